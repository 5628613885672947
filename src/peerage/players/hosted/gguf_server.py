"""The child process that serves one GGUF file with llama.cpp; started by `local`, never by hand.

It prints `listening ADDRESS` once it answers, and ends when its standard input closes, so it never
outlives the run: not after Ctrl+C, not when the runner is killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

PROMPT_CACHE_MIB = 256


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("path", type=Path)
    arguments.add_argument("--slots", type=int, required=True, help="replies written at once")
    arguments.add_argument("--context", type=int, required=True, help="tokens of context, over all slots")
    given = arguments.parse_args()
    # The runner decides when calls in flight end; Ctrl+C in the terminal reaches it, not us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    import xllamacpp  # type: ignore[import-untyped,import-not-found,unused-ignore]

    params = xllamacpp.CommonParams()
    params.model.path = str(given.path)
    params.model_alias = {given.path.stem}
    params.port = 0
    params.n_parallel = given.slots
    params.n_ctx = given.context
    params.kv_unified = True
    params.ui = False
    params.verbosity = 1
    # Prompts kept for reuse; llama.cpp's own limit is 8 GB, which an arena's many prompts would fill.
    params.cache_ram_mib = PROMPT_CACHE_MIB
    server = xllamacpp.Server(params)
    print("listening", server.listening_address, flush=True)
    sys.stdin.buffer.read()
    # No farewell: a stuck native thread must not keep the process alive.
    os._exit(0)


if __name__ == "__main__":
    main()
