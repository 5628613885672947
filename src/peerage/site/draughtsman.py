"""Charts drawn in a process of their own, which gets ready while pages are read and written.

The libraries that describe and draw charts take longer to start than all else that a small site needs to be
built anew; on a second core they keep nobody waiting.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import TracebackType

from peerage.site.charts import Drawn, Spec, drawn, frontier


class SiteError(Exception):
    """The pages cannot be made as asked; the message says why and how to mend it."""


class Draughtsman:
    """Draws like `charts.drawn`: `with Draughtsman() as draw: draw(spec, label)`."""

    def __enter__(self) -> Draughtsman:
        # A session of its own: Ctrl+C is for the one who asked, with whom it ends.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "peerage.site.draughtsman"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        return self

    def __call__(self, spec: Spec, label: str) -> Drawn:
        """Raises SiteError when the process was ended."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        try:
            pickle.dump((spec, label), asked)
            asked.flush()
            found: Drawn = pickle.load(told)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise SiteError(
                "the process that draws charts was ended from outside, or for want of memory; build again"
            ) from None
        return found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()  # it may still be getting ready for what nobody asked
        self._process.communicate()


def main() -> None:
    """Draw what is asked on standard input, until it ends."""
    drawn(lambda: frontier([], ""), "")  # the first chart takes a second, others a twentieth
    while True:
        try:
            spec, label = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(drawn(spec, label), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
