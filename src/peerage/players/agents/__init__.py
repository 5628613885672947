"""Agents: programs that are run for every call, functions and servers behind an address, which speak one
protocol (`agent_protocol`); and coding agents over ACP (`acp`), whose model is behind a metered `gateway`.
It imports `players.models` and the modules of `players` itself.
"""
