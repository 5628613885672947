"""A run: what it requires, how it is put together, how any program or notebook starts it.

`requirements` imports rooms below; `run` imports `requirements`; `start` imports `engine` alone.
"""
