"""Executes docs/notebook.ipynb, so that every output in it is one that the program made.

python docs/notebook.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

PAGE = Path(__file__).with_name("notebook.ipynb")


def executed(folder: Path) -> Any:
    """The notebook with what its cells come to, run in `folder`."""
    found = nbformat.read(PAGE, as_version=4)
    client = NotebookClient(found, kernel_name="python3", startup_timeout=300, record_timing=False)
    return client.execute(cwd=str(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(executed(Path(folder)), PAGE)
