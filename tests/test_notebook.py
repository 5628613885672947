"""The notebook in the docs runs as it stands, and its outputs are those that the program makes."""

from __future__ import annotations

import importlib.util
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


def told(cells: Any) -> Iterator[list[str]]:
    """What each cell comes to as text, without progress."""
    for cell in cells:
        results = [one for one in cell.get("outputs", ()) if one["output_type"] == "execute_result"]
        yield [one["data"]["text/plain"] for one in results]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_comes_to_what_it_shows(notebook: ModuleType, tmp_path: Path) -> None:
    shown = nbformat.read(notebook.PAGE, as_version=4).cells
    made = notebook.executed(tmp_path).cells
    assert list(told(made)) == list(told(shown)), "run `python docs/notebook.py`"
    assert not [one for cell in made for one in cell.get("outputs", ()) if one["output_type"] == "error"]
    assert [one for cell in made for one in cell.get("outputs", ()) if one["output_type"] == "stream"] == []
    bars = [one for cell in made for one in cell.get("outputs", ()) if one["output_type"] == "display_data"]
    assert len(bars) == 1, "one bar, redrawn"
    assert bars[0]["data"]["text/html"].startswith("<p>120 matches · 120 in this run")
    drawn = [one["data"] for cell in made for one in cell.get("outputs", ()) if "text/html" in one["data"]]
    assert len(drawn) >= 7, "what an arena returns shows itself"
