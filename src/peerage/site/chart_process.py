"""Charts drawn in a process of their own, which gets ready while pages are read and written.

The libraries that describe and draw charts take longer to start than all else that a small site needs to be
built anew; on a second core they keep nobody waiting. So nothing here loads more than it must, and
`python -m peerage.site.chart_process` is the process.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from peerage.site.charts import Drawn, Spec


class DrawingError(Exception):
    """A chart cannot be drawn; the message says why and how to mend it."""


class Draughtsman:
    """Draws like `charts.drawn`: `with Draughtsman() as draw: draw(spec, label)`."""

    def __enter__(self) -> Draughtsman:
        # A session of its own: Ctrl+C is for the one who asked, with whom it ends.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "peerage.site.chart_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        return self

    def __call__(self, spec: Spec, label: str) -> Drawn:
        """Raises DrawingError when the process was ended, and ModuleNotFoundError where one is missing."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        try:
            pickle.dump((spec, label), asked)
            asked.flush()
            found: Drawn | ModuleNotFoundError = pickle.load(told)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise DrawingError(
                "the process that draws charts was ended from outside, or for want of memory; try again"
            ) from None
        if isinstance(found, ModuleNotFoundError):
            raise found
        return found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()  # it may still be getting ready for what nobody asked
        self._process.communicate()


def main() -> None:
    """Draw what is asked on standard input, until it ends."""
    from peerage.site.charts import drawn, frontier

    missing: ModuleNotFoundError | None = None
    try:
        drawn(partial(frontier, []), "")  # the first chart takes a second, others a twentieth
    except ModuleNotFoundError as error:
        missing = error
    while True:
        try:
            spec, label = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(missing or drawn(spec, label), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
