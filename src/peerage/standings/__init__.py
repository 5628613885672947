"""Folds of finished matches: ratings (`fold`), and sums of what players did and cost (`accounts`).

`verify` checks a whole ledger, and holds what is stored of both against the records.
"""
