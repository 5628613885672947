"""`python quick.py WORDS…`: the command line, with a run that hardly waits before it tries a call again."""

from __future__ import annotations

from peerage.cli.main import main
from peerage.engine.calls import pauses

pauses.BACKOFF_S = 0.01

if __name__ == "__main__":
    main()
