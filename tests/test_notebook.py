"""The notebook in the docs runs as it stands, and what each cell shows is of the kind that the page has."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def notebook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_notebook", DOCS / "notebook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(cells: Any) -> Iterator[list[tuple[str, list[str]]]]:
    """What kinds of output each cell has; what the numbers are may change with any rule of the program."""
    for cell in cells:
        yield [(one["output_type"], sorted(one["data"])) for one in cell.get("outputs", ())]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_runs_and_shows_what_the_page_does(notebook: ModuleType, tmp_path: Path) -> None:
    page = nbformat.read(notebook.PAGE, as_version=4).cells
    made = notebook.executed(tmp_path).cells  # a cell that fails ends it
    assert list(shown(made)) == list(shown(page)), "run `python docs/notebook.py`"
    bars = [one for cell in made for one in cell.get("outputs", ()) if one["output_type"] == "display_data"]
    assert len(bars) == 1, "one bar, redrawn"
    assert re.match(r"<p>120 matches · 12\d in this run", bars[0]["data"]["text/html"])  # some have no result
    drawn = [one["data"] for cell in made for one in cell.get("outputs", ()) if "text/html" in one["data"]]
    assert len(drawn) >= 7, "what an arena returns shows itself"
