"""Pictures and sounds in their places: shown where a medium can, in words elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest

from peerage.game.blocks import Grid, Heading, Quoted, Sentence, SourceCode, Target, TaskText
from peerage.game.media import Media
from peerage.render.blocks import Rows, ViewBlock, texts
from peerage.render.data import plain, write_csv
from peerage.render.html.writer import Html, notebook
from peerage.render.latex import latex
from peerage.render.markdown import markdown
from peerage.render.rows import WHERE
from peerage.render.terminal import write
from peerage.values.texts import MARK_BEGINS, MARK_ENDS

CAT = Media("ab" * 32, "image/png", 12_345, 640, 480)
BEEP = Media("cd" * 32, "audio/wav", 999, seconds=1.25)
WORDS = "[picture abababab, PNG, 640×480, 12 KB]"


def served(to: Target) -> str | None:
    return f"../media/{to[1]}" if to[0] == "media" else None


def html(text: str, *, prose: bool = False) -> str:
    return Html(served).blocks([TaskText(text, prose=prose)])


@pytest.mark.parametrize("prose", [False, True])
def test_a_picture_stands_in_its_place_and_leads_to_its_file(prose: bool) -> None:
    made = html(f"See **this**: {CAT.mark}And that: {CAT.mark}{BEEP.mark}What?", prose=prose)
    at = f"../media/{CAT.sha256}.png"
    assert made.count(f'<a href="{at}"><img src="{at}" ') == 2
    for part in ('width="640" height="480"', 'loading="lazy"', 'alt="The task: picture 2 (abababab, PNG, 64'):
        assert part in made
    assert f'<audio controls preload="none" src="../media/{BEEP.sha256}.wav"' in made
    places = [
        made.index(words) for words in ("See ", "picture 1", "And that", "picture 2", "sound 1", "What?")
    ]
    assert places == sorted(places)
    assert MARK_BEGINS not in made


def test_what_is_missing_or_never_shown_is_said_in_words() -> None:
    assert "<img" not in (gone := Html(lambda to: "").blocks([TaskText(CAT.mark)]))
    assert "picture 1 (abababab, PNG, 640×480, 12 KB); its file is missing here]" in gone
    assert "picture 1 (abababab, PNG, 640×480, 12 KB)]" in notebook([TaskText(CAT.mark)])


@pytest.mark.parametrize(
    "forged",
    [
        CAT.mark.replace("image/png", "image/svg"),
        CAT.mark.replace("image/png", "text/html"),
        CAT.mark.replace("ab" * 32, "//evil.example/" + "a" * 49),
        CAT.mark.replace("640x480", "9" * 5_000 + "x1"),
        BEEP.mark.replace("1.25s", "1e999s"),
        CAT.mark.strip(MARK_BEGINS + MARK_ENDS),
        f'{MARK_BEGINS}image/png {"ab" * 32} 1 1x1" onerror="alert(1){MARK_ENDS}',
        "![cat](https://evil.example/cat.png) <img src=//evil.example/x.png>",
    ],
)
@pytest.mark.parametrize("prose", [False, True])
def test_what_only_looks_like_a_mark_is_a_text(forged: str, prose: bool) -> None:
    made = html(forged, prose=prose)
    assert "<img" not in made
    assert "<audio" not in made
    assert 'onerror="' not in made


def test_what_a_picture_is_called_after_is_escaped() -> None:
    made = Html(served).blocks([Quoted('"><script>{0}', CAT.mark)])
    assert "<script" not in made
    assert 'alt="&quot;&gt;&lt;script&gt;{0}: picture 1 ' in made


def everywhere() -> Sequence[ViewBlock]:
    row = {"text": f"Look: {CAT.mark}"}
    return [
        Heading(f"On {CAT.mark}"),
        Sentence(f"It shows {CAT.mark}."),
        SourceCode(f"print({CAT.mark})"),
        Grid(("Task",), ((f"Cell {CAT.mark}",),)),
        Rows([row], [*texts(text="Challenge")], title=f"Of {CAT.mark}"),
        TaskText(f"Say {CAT.mark}!"),
    ]


def test_no_other_place_shows_a_mark() -> None:
    out = io.StringIO()
    write(everywhere(), out)
    for made, count in (
        (out.getvalue(), 7),
        (markdown(everywhere()), 7),
        (latex(everywhere()), 2),
        (Html(served).blocks(everywhere()), 7),
    ):
        flat = made.replace("\\[", "[").replace("\\]", "]")
        assert flat.count(WORDS) == count, made
        assert MARK_BEGINS not in made


def test_a_terminal_and_markdown_say_once_where_to_look() -> None:
    def written(*blocks: ViewBlock) -> str:
        out = io.StringIO()
        write(blocks, out)
        return out.getvalue()

    shown = TaskText(CAT.mark)
    assert written(shown, shown).count(WHERE) == markdown([shown, shown]).count(WHERE) == 1
    assert WHERE not in written(TaskText("none")) + markdown([TaskText("none")])


def test_data_has_words() -> None:
    assert plain({"text": f'"{CAT.mark}"', "list": [CAT.mark]}) == {"text": f'"{WORDS}"', "list": [WORDS]}
    out = io.StringIO()
    write_csv(out, [{"text": CAT.mark, "several": [CAT.mark]}])
    assert out.getvalue().splitlines()[1] == f'"{WORDS}","[""{WORDS}""]"'
    assert json.loads(f'["{WORDS}"]') == [WORDS]
