"""Ratings: pure functions from a history of results to a table.

A library of its own: nothing here knows of arenas, ledgers or models. Players are numbers from 0.
"""
