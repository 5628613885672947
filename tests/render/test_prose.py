"""Markdown that models write: it is shown as it is meant, and does nothing else, whatever they write."""

from __future__ import annotations

from html.parser import HTMLParser
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from peerage.game.blocks import Quoted
from peerage.render.html.match import FOLD
from peerage.render.html.prose import MOST_FORMULA, MOST_FORMULAS, prose
from peerage.render.html.writer import Html, notebook
from peerage.render.rows import MOST
from peerage.render.terminal import MARGIN, on

TAGS = {
    *("p", "br", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "span"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
FORMULA = (
    "math mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr "
    "mtd mstyle mpadded mphantom menclose"
)
ATTRIBUTES = {"class", "title", "start"}


class Seen(HTMLParser):
    """The tags of some HTML, the attributes outside formulas, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in FORMULA.split():
            self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a **bold** word", "<p>a <strong>bold</strong> word</p>\n"),
        ("# Title\nfirst\nsecond", '<p class="head">Title</p>\n<p>first<br />\nsecond</p>\n'),
        ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>\n'),
        ("`a < b`", "<p><code>a &lt; b</code></p>\n"),
        ("```\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>\n"),
        ("```sql\nSELECT 1\n```", 'class="k-k">SELECT</span>'),
        ("|a|b|\n|-|-:|\n|1|2|", '<td>1</td>\n<td class="n">2</td>'),
        ("$x^2$ and \\(y\\)", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("\\[\\begin{aligned}a&=b\\end{aligned}\\]", "<mtable>"),
        (
            "[here](https://example.org)",
            '<p><span class="link" title="https://example.org">here</span></p>\n',
        ),
        ("![a cat](cat.png)", '<p><span class="link" title="cat.png">[a cat]</span></p>\n'),
    ],
)
def test_markdown_is_shown_as_it_is_meant(text: str, made: str) -> None:
    assert made in prose(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "Paris", "Two lines\n\nof text.", "It costs $5, or $6.", "3 > 2 and 2 < 3", "7 - 2"),
        *('{"verdict": "**A**"}', '["*", "*"]', "*" + "a" * MOST + "*", "\\(a\\) " * (MOST_FORMULAS + 1)),
    ],
)
def test_a_text_without_markdown_stands_as_it_is(text: str) -> None:
    assert prose(text) == ""


@pytest.mark.parametrize(
    "tex",
    ["\\text{<script>alert(1)</script>}", "{" * 400, "x" * (MOST_FORMULA + 1)],
)
def test_a_formula_that_cannot_be_set_is_shown_as_it_was_written(tex: str) -> None:
    seen = Seen(prose(f"See ${tex}$ here."))
    assert tex in seen.text
    assert seen.tags <= {"p", "code"}


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> **b**",
        "[x](javascript:alert(1)) [y](data:text/html,<script>) **b**",
        '![x](https://e.org/a.png "onerror=alert(1)") <img src=x onerror=alert(1)>',
        '```"onmouseover=alert(1)\nx\n```',
        "|a|\n|:-|\n|<style>*{display:none}</style>|",
        "$\\href{javascript:alert(1)}{x}$ $\\style{color:red}{x}$ $\\class{a}{x}$ $\\unicode{x3c}script$",
        "<https://e.org> https://e.org **b** <a href='x'>y</a>",
        "**\u202egnp.evil** \x1b[31m",
    ],
)
def test_nothing_leads_elsewhere_loads_or_runs(text: str) -> None:
    made = prose(text)
    seen = Seen(made)
    assert made
    assert seen.tags <= {*TAGS, *FORMULA.split()}
    assert seen.attributes <= ATTRIBUTES
    assert not {"\u202e", "\x1b"} & {*made}


@given(st.text("ab1 \n*_`#|$\\~>-+.()[]{}<>!:&\"'=/", max_size=200))
def test_whatever_is_written_comes_to_no_other_markup(text: str) -> None:
    seen = Seen(prose(text))
    assert seen.tags <= {*TAGS, *FORMULA.split()}
    assert seen.attributes <= ATTRIBUTES


def test_a_reader_may_choose_the_source_and_a_notebook_shows_what_is_meant() -> None:
    block = Quoted("A", "a **bold** word " * 200, prose=True)
    page = Html().blocks([block])
    assert (
        page.index('<div class="prose">')
        < page.index("<summary>Show all</summary>")
        < page.index("a **bold**")
    )
    assert len(block.text) > FOLD
    assert "a **bold**" not in notebook([block])
    assert "<strong>bold</strong>" in notebook([block])
    assert "<strong>" not in Html().blocks([Quoted("A", block.text)])  # a game's move is no prose
    plain = Html().blocks([Quoted("A", "Paris", prose=True)])
    assert 'class="prose"' not in plain
    assert '<div class="said">Paris</div>' in plain


def test_a_terminal_shows_what_is_meant_behind_its_margin_and_a_pipe_the_source() -> None:
    markdown = "# Title\n\n- **bold** \x1b[31m [here](https://e.org)\n\n```python\nx = 1\n```\n"
    block = Quoted("A", markdown + "word " * 30, prose=True)

    def lines(*, terminal: bool) -> list[str]:
        console = Console(file=StringIO(), force_terminal=terminal, color_system=None, width=60)
        return on(console, [block]).splitlines()

    shown = lines(terminal=True)
    assert all(line.startswith(MARGIN.rstrip()) and len(line) <= 60 for line in shown[1:])
    assert not [part for part in ("**", "```", "\x1b") if part in "\n".join(shown)]
    assert f"{MARGIN}- **bold** \ufffd[31m [here](https://e.org)" in lines(terminal=False)
