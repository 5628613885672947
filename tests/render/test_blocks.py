"""Blocks as each medium writes them: numbers with bounds, single facts, records and forms."""

from __future__ import annotations

import io
from types import SimpleNamespace

from peerage.render.blocks import ChoiceForm, Column, LoneFigure, Rows, as_facts, bounded
from peerage.render.html.writer import Html
from peerage.render.markdown import markdown
from peerage.render.terminal import text
from peerage.values.figures import percent

ROW = SimpleNamespace(name="ada", share=0.5, share_lower=0.25, share_upper=0.75, met=(3, 1, 0))
RECORD = Column("met", "Record", lambda met: "-".join(map(str, met)), number=True, draw="record")
BLOCK = Rows([ROW], [Column("name", "Name"), *bounded(percent, 1, share="Share"), RECORD])


def written(*blocks: object) -> tuple[str, str, str]:
    """Return blocks on a page, as Markdown and in a terminal."""
    return (
        Html(lambda to: f"at/{to[1]}").blocks(blocks),  # type: ignore[arg-type]
        markdown(blocks),  # type: ignore[arg-type]
        text(blocks, io.StringIO()),  # type: ignore[arg-type]
    )


def test_bounds_stand_under_a_number_on_a_page_and_beside_it_elsewhere() -> None:
    page, marked, plain = written(BLOCK)
    assert '50%<small class="quiet">25% to 75%</small>' in page
    assert ">from<" not in page
    assert "| Name | Share | from | to | Record |" in marked
    assert "50%   25%  75%" in plain


def test_a_record_is_drawn_on_a_page() -> None:
    page, marked, _ = written(BLOCK)
    assert '<rect class="w" x="0.0" width="90.0" height="10"/><rect class="d" x="90.0" width="30.0"' in page
    assert "3-1-0" in marked


def test_the_numbers_of_a_row_stand_alone_with_what_is_known_of_them() -> None:
    assert as_facts(BLOCK, ROW, "share_lower", "share_upper").facts == [
        LoneFigure("Share", "50%", "25% to 75%"),
        LoneFigure("Record", "3-1-0"),
    ]


def test_a_form_is_there_where_there_are_forms() -> None:
    form = ChoiceForm(("view", "compare"), [("a", "One", ["x", "<b>"], "<b>")], "Compare")
    page, marked, plain = written(form)
    assert '<form class="controls" method="get" action="at/compare">' in page
    assert '<option value="x">x</option><option value="&lt;b&gt;" selected>&lt;b&gt;</option>' in page
    assert not (marked + plain).strip()
