"""Templates escape whatever they write, and values are written as people write them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import jinja2
import pytest
from markupsafe import Markup

from peerage.render.html.texts import breakable, coded
from peerage.site.rendering import (
    environment,
    inline,
    render,
)
from peerage.values.figures import score
from peerage.views.player import placed_in, stated

HOSTILE = "<script>\"a\" & 'b'</script>\u202egnp\x00"
SHOWN = "&lt;script&gt;&#34;a&#34; &amp; &#39;b&#39;&lt;/script&gt;\ufffdgnp\ufffd"


def written(template: str, **values: Any) -> str:
    return environment().from_string(template).render(values)


@pytest.fixture
def templates() -> Iterator[dict[str, str]]:
    """Templates of a test's own, in the environment that the pages come from."""
    made = environment()
    kept, found = made.loader, dict[str, str]()
    made.loader = jinja2.DictLoader(found)
    yield found
    made.loader = kept


def test_what_a_template_writes_is_escaped_and_made_visible() -> None:
    assert written("{{ it }}", it=HOSTILE) == SHOWN
    assert written('<a title="{{ it }}">', it=HOSTILE) == f'<a title="{SHOWN}">'
    assert written("{{ it }}", it=Markup("<b>")) == "<b>", "our own markup stays as it is"


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="'there' is undefined"):
        written("{{ there }}")


def test_lines_of_statements_leave_no_blank_lines() -> None:
    assert written("<p>\n  {% if yes %}\n  a\n  {% endif %}\n</p>", yes=True) == "<p>\n  a\n</p>"


def test_a_page_is_utf_8_and_no_lone_surrogate_breaks_it(templates: dict[str, str]) -> None:
    templates["page"] = "<p>{{ it }}</p>é"
    assert render("page", {"it": "½ <b> 日"}) == "<p>½ &lt;b&gt; 日</p>é".encode()
    assert render("page", {"it": Markup("a\ud800b")}) == "<p>a?b</p>é".encode()


def test_the_policy_names_a_script_by_the_digest_of_its_bytes() -> None:
    text = "let é = 1"
    found = inline(text)
    assert found.startswith("'sha256-")
    assert found.endswith("'")
    assert b64decode(found[8:-1]) == sha256(text.encode("utf-8")).digest()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.5, "½"),
        (1.0, "1"),
        (1.5, "1½"),
        (2.5, "2½"),
        (3.5, "3½"),
        (-0.5, "-0.5"),
        (1 / 3, "0.333"),
        (12.25, "12.2"),
        (999, "999"),
        (1000, "1,000"),
        (-1000, "-1,000"),
        (12345.6, "12,346"),
    ],
)
def test_a_score_is_written_as_it_is(value: float, shown: str) -> None:
    assert score(value) == shown


def test_what_stands_between_backticks_in_a_note_is_code() -> None:
    assert coded("see `a & b`, <i>") == Markup("see <code>a &amp; b</code>, &lt;i&gt;")
    assert coded("one ` alone") == Markup("one ` alone")
    assert coded("`a` or `b` or c") == Markup("<code>a</code> or <code>b</code> or c")


def test_settings_are_said_in_words() -> None:
    assert stated({"input": 0.02, "cached": None, "days": ["Mon", "Tue"]}) == (
        "input 0.02; cached not set; days Mon, Tue"
    )
    assert [stated(one) for one in (True, False, [], {}, 1500, "ab")] == [
        "yes",
        "no",
        "none",
        "none",
        "1500",
        "ab",
    ]


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        ((0.0, 1.0), [(1, "b", 1.0), (2, "a", 0.0)]),
        ((0.5, 0.5), [(1, "a", 0.5), (1, "b", 0.5)]),
        ((0.25, 1.0, 0.25), [(1, "b", 1.0), (2, "a", 0.25), (2, "c", 0.25)]),
        ((), [(0, "a", 0.0), (0, "b", 0.0)]),
    ],
)
def test_who_met_is_listed_by_place(scores: tuple[float, ...], shown: list[tuple[int, str, float]]) -> None:
    assert placed_in("abc"[: len(scores) or 2], scores) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a/b:c-d_e.f,", "a/b:c-d_e.f,"),  # twelve characters stay together
        ("a/b:c-d_e.f,g", "a/<wbr>b:<wbr>c-<wbr>d_<wbr>e.<wbr>f,g"),
        ("claude-sonnet-4.5", "claude-<wbr>sonnet-<wbr>4.5"),
        ("claude-sonnet-4.5 1 · al 0", "<span>claude-<wbr>sonnet-<wbr>4.5 1</span> · <wbr><span>al 0</span>"),
        ("neXt LaXge letters", "neXt LaXge letters"),
        ("<b>", "&lt;b&gt;"),
        ("a\u202e<b>/long name", "a\ufffd&lt;b&gt;/<wbr>long name"),
    ],
)
def test_a_long_name_may_be_broken_after_its_punctuation(name: str, shown: str) -> None:
    assert breakable(name) == Markup(shown)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("1234.5|whole", "1,234"),
        ("0|time", "1970-01-01 00:00 UTC"),
        ("1.5|score", "1½"),
    ],
)
def test_templates_have_these_at_hand(said: str, shown: str) -> None:
    assert written(f"{{{{ {said} }}}}") == shown
