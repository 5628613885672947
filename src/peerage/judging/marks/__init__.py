"""Votes and scores as rows to write and columns to compute with, and what they leave to compare. Imports
`panels` and ratings."""
