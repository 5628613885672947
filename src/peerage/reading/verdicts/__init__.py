"""Verdicts on answers: judges' votes and scores, people's votes, checks' credits, withdrawals."""
