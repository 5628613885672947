"""Models that we host: on a host that is started and stopped (`on_host`), or from a GGUF file on this
machine. `host_guard` and `gguf_server` are child processes, never started by hand. It imports
`players.agents` and `players.models`.
"""
