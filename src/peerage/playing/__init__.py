"""A run: what it requires, how it is put together, how any program or notebook starts it.

`requirements` imports rooms below, `players` imports `requirements`, `run` imports both; `start` imports
`engine` alone.
"""
