"""Verdicts on answers: votes and scores of judges, votes of people, credits by checks; challenges that people
withdrew."""
