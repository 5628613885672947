"""Agents: programs that are run for every call, Python functions, servers behind an address.
All speak one protocol, in `agent_protocol`.
It imports `players.models` and the modules of `players` itself.
"""
