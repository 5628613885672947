"""What an arena returns: typed rows that read well as text, as HTML and as a data frame."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import play, write_arena
from tests.views.conftest import recorded

from peerage.arena import Arena, ArenaError, open_arena
from peerage.game import blocks
from peerage.render.html import match
from peerage.render.html import writer as html
from peerage.views.leaderboard.row import Row

HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e\"'&"


def test_a_leaderboard_is_a_sequence_of_typed_rows(arena: Arena) -> None:
    found = arena.leaderboard("bt")
    assert isinstance(found[0], Row)
    assert [row.rank for row in found][:2] == [1, 2]
    assert len(found) == len(arena.settings.players)
    assert found[:2].rows == found.rows[:2]
    assert found[:2].title == found.title == "Bradley-Terry"
    assert found.to_dicts() == [row.as_dict() for row in found]
    assert found.notes[0] in found[0].notes


def test_a_table_reads_well_as_text(arena: Arena) -> None:
    verdict = arena.verdict("bt").lines
    told = str(arena.leaderboard("bt")).splitlines()
    assert tuple(told[: len(verdict)]) == verdict
    lines = [line for line in told[len(verdict) :] if line]
    assert lines[0] == "Bradley-Terry"
    assert " ".join(lines[1].split()) == (
        "Rank Player Rating 95% Best Choice Proven above Matches W D L No result $ per 100 Billed"
    )
    best = arena.leaderboard("bt")[0]
    assert lines[3].split()[:3] == ["1", best.player, f"{best.rating:,.0f}"]
    assert repr(arena.leaderboard("bt")) == str(arena.leaderboard("bt"))


def test_a_table_is_a_data_frame_with_every_field(arena: Arena) -> None:
    pandas = pytest.importorskip("pandas")
    frame = arena.leaderboard("raw").to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(Row.__struct_fields__)
    assert frame["player"].tolist() == [row.player for row in arena.leaderboard("raw")]
    assert arena.head_to_head()[:0].to_pandas().empty
    found = arena.stats()
    for of, rows in (("players", found.players), ("judges", found.judges), ("authors", found.authors)):
        frame = found.to_pandas(of)
        assert list(frame.columns) == list(rows[0].__struct_fields__)
        assert frame["player"].tolist() == [row.player for row in rows]


def test_who_beat_whom_is_the_narrow_table_counted(arena: Arena) -> None:
    found = {(row.player, row.other): row for row in arena.head_to_head()}
    for (player, other), row in found.items():
        both = [s for s in arena.ledger.summaries() if s.scores and {player, other} <= {*s.players}]
        assert row.matches == len(both) > 0
        mirrored = found[other, player]
        assert (row.wins, row.draws, row.losses) == (mirrored.losses, mirrored.draws, mirrored.wins)
        assert row.share == pytest.approx((row.wins + row.draws / 2) / row.matches)


def test_players_are_those_of_the_settings(arena: Arena) -> None:
    assert [row.player for row in arena.players] == [player.name for player in arena.settings.players]
    assert arena.players[0].price_known


def test_charts_are_by_name_and_one_that_is_not_there_says_which_are(arena: Arena) -> None:
    chart = arena.chart("ratings", track="bt")
    assert chart.title == "Ratings over the matches"
    assert "<svg" in chart._repr_html_()
    assert arena.chart("cost").title == "Cost against quality"
    with pytest.raises(ArenaError, match="no chart 'nonsense' here: there are cost, speed, ratings"):
        arena.chart("nonsense")


def test_an_arena_shows_its_table(arena: Arena) -> None:
    assert repr(arena).endswith(f"7 players, {recorded(arena)} matches>")
    shown = arena._repr_html_()
    assert html.Html(bare=True).blocks(arena.leaderboard().blocks()) in shown
    assert f"7 players · {recorded(arena)} matches" in shown


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


def tags(html: str) -> set[str]:
    parser = Tags()
    parser.feed(html)
    return set(parser.tags)


PLAIN = {
    *("div", "style", "p", "b", "small", "h2", "h3", "details", "summary", "pre", "span", "meter", "wbr"),
    *("ul", "li", "article", "header", "section", "code", "svg", "rect", "path"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}


def test_hostile_names_and_words_stay_text(tmp_path: Path) -> None:
    players = [{"name": name, "model": "house:0.5"} for name in ("a<b>", "c&d", "<img src=x onerror=y>", "e")]
    with open_arena(play_in(tmp_path, players)) as arena:
        for shown in (arena, arena.leaderboard(), arena.players, arena.head_to_head(), arena.match(1)):
            assert tags(shown._repr_html_()) <= PLAIN
        assert tags(arena.stats()._repr_html_()) <= PLAIN
        assert arena.stats()._repr_html_().count("<table>") == 3
        assert "&lt;img src=x onerror=y&gt;" in arena.leaderboard()._repr_html_()
        assert "onerror" not in "".join(
            part for part in arena.chart("ratings")._repr_html_().split("<") if "onerror" in part[:12]
        )


def play_in(folder: Path, players: list[dict[str, str]]) -> Path:
    made = write_arena(folder, players)
    play(made, 4)
    return made


def test_every_block_of_a_match_is_escaped(arena: Arena) -> None:
    view = msgspec.structs.replace(
        arena.match(1),
        topic=HOSTILE,
        verdict=HOSTILE,
        blocks=(
            blocks.Heading(HOSTILE),
            blocks.Sentence(HOSTILE, "bad"),
            blocks.TaskText(HOSTILE, HOSTILE, (HOSTILE,)),
            blocks.Quoted(HOSTILE, HOSTILE + "x" * match.FOLD, "", HOSTILE, "good", HOSTILE),
            blocks.SourceCode(HOSTILE, HOSTILE, "", HOSTILE, "", HOSTILE),
            blocks.Grid((HOSTILE, ">n"), ((HOSTILE, 1.5), (None, 2)), HOSTILE),
            blocks.ScoreLine(HOSTILE, None, HOSTILE),
            blocks.Swatch(((HOSTILE, HOSTILE), ("red", "ff0000"))),
            blocks.Board((HOSTILE,)),
            blocks.Bar(HOSTILE, 0.5),
            blocks.Private((HOSTILE,)),
        ),
    )
    shown = view._repr_html_()
    assert tags(shown) <= PLAIN
    assert "<script" not in shown
    assert not {"\x1b", "\u202e"} & set(shown)
    assert shown.count("&lt;script&gt;") >= 17
    assert "#ff0000" in shown
