"""Players that see, and others: found out by a probe once, and left out of games that show pictures."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import ledger_of, write_arena
from tests.servers.openai_server import OpenAIServer
from tests.servers.seeing import read_digits, seeing
from typer.testing import CliRunner

from peerage.arena import ArenaError, open_arena
from peerage.cli.main import app
from peerage.engine.record.probed import entries, probed_media
from peerage.engine.record.seeing import left_out, media_to_ask, seated
from peerage.engine.run.probes import worst_probe
from peerage.ledger.forms.codec import read_issued
from peerage.players.picture_probe import media_call, picture_of
from peerage.players.prices import Price, Rate
from peerage.standings.verify import verify
from peerage.views.status import blocks, status

GAME = """
import json
from pathlib import Path
from random import Random

from msgspec import Struct

from peerage.formats import Json
from peerage.game.bounds import Asks
from peerage.game.match import Outcome, by_rank
from peerage.game.protocol import Ask, Prompt
from peerage.game.spec import GameSpec, Needs

PLAY = Prompt("You read pictures.", "{picture} Which digits?\\n{format}")
URLS = json.loads(Path(FILE).read_text("utf-8"))


class Read(Struct):
    digits: str


FORMAT = Json(Read)


def draw(rules, secret, number):
    digits, url = Random(f"{secret}/{number}").choice(URLS)
    return {"picture": url, "digits": digits}


def play(table):
    fill = {"picture": table.drawn["picture"], "format": FORMAT.instruction()}
    asks = [
        Ask(seat.label, f"look/{seat.label}", "contestant", PLAY.messages(fill), FORMAT, max_tokens=50)
        for seat in table.seats
    ]
    replies = yield asks
    right = [reply.ok and reply.value.digits == table.drawn["digits"] for reply in replies]
    return Outcome(scores=by_rank({seat.label: float(r) for seat, r in zip(table.seats, right, strict=True)}))


GAME = GameSpec(
    name="digits",
    about="Who reads best wins.",
    play=play,
    draw=draw,
    asks=lambda rules, fixture: (Asks("contestant", PLAY, FORMAT, calls=1, max_tokens=50),),
    needs=Needs(media=lambda rules: ["image"]),
)
"""


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        running.always(seeing)
        yield running


def arena(folder: Path, server: OpenAIServer, models: list[str], **takes: Any) -> Path:
    urls = [(digits, picture_of(digits)) for digits in ("1234", "5678", "9031", "4607")]
    file = folder / "digits.json"
    folder.mkdir(exist_ok=True)
    file.write_text(json.dumps(urls), "utf-8")
    (folder / "digits.py").write_text(GAME.replace("FILE", repr(str(file))), "utf-8")
    players = [
        {
            "name": model,
            "model": f"openai:{model}",
            "base_url": server.url,
            "family": model,
            "price": {"input": 1, "output": 2},
            **({"takes": takes[model]} if model in takes else {}),
        }
        for model in models
    ]
    return write_arena(folder, players, engine={"probe": True}, game="./digits.py", rules={})


async def played(folder: Path, matches: int) -> set[str]:
    """Play, and return who was seated."""
    with open_arena(folder) as opened:
        await opened.play(matches)
        rows = [read_issued(row.body) for row in opened.ledger.fixtures()]
        assert verify(opened.ledger).ok
        return {seat.player for row in rows for seat in row.seats}


def pictures_asked(server: OpenAIServer) -> list[str]:
    return [one.body["model"] for one in server.requests if "Which four digits" in json.dumps(one.body)]


def test_the_picture_of_a_probe_is_what_a_seed_draws_and_can_be_read() -> None:
    asked = [media_call("image", str(seed)) for seed in range(30)]
    for call, wanted in asked:
        (body,) = call.media.values()
        assert read_digits(body) == wanted
        assert wanted not in call.messages[1][1]
        assert picture_of(wanted).endswith(b64encode(body).decode())
    assert len({wanted for _, wanted in asked}) > 25


async def test_who_does_not_read_the_picture_is_asked_once_and_not_paired(
    tmp_path: Path, server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    folder = arena(tmp_path, server, ["sees-1", "ignores", "sees-2", "refuses"])
    with open_arena(folder) as opened:
        assert media_to_ask(opened.settings, opened.ledger).keys() == {
            "sees-1",
            "ignores",
            "sees-2",
            "refuses",
        }
    assert await played(folder, 4) == {"sees-1", "sees-2"}
    assert sorted(pictures_asked(server)) == ["ignores", "refuses", "sees-1", "sees-2"]
    assert "digits is played without ignores and refuses: its tasks hold pictures" in caplog.text
    assert await played(folder, 8) == {"sees-1", "sees-2"}
    assert len(pictures_asked(server)) == 4
    ledger = ledger_of(folder)
    assert probed_media(ledger) == {
        "sees-1": {"image": True},
        "sees-2": {"image": True},
        "ignores": {"image": False},
        "refuses": {"image": False},
    }
    sent, came = list(entries(ledger))[:2]
    assert came.found["refuses"].status == "ok"
    assert (came.found["sees-1"].requests, came.found["sees-1"].worst_nano) == (2, 0)
    usage = 11 * 1_000 + 7 * 2_000
    assert came.found["sees-1"].cost_nano == 2 * usage
    assert came.found["refuses"].cost_nano == usage
    assert (sent.sent["sees-1"] or 0) >= 2 * usage
    told = [str(block) for block in blocks(status(ledger, folder))]
    assert any("ignores does not take pictures, by its probe" in line for line in told)
    ledger.close()
    looked = await asyncio.to_thread(CliRunner().invoke, app, ["doctor", "--dir", str(folder)])
    assert "played without" in " ".join(looked.output.split())
    planned = await asyncio.to_thread(
        CliRunner().invoke, app, ["plan", "--matches", "4", "--dir", str(folder)]
    )
    assert "is played without ignores and refuses: its tasks hold pictures" in " ".join(
        planned.output.split()
    )


async def test_too_few_who_see_end_a_run_with_how_to_fix_it(
    tmp_path: Path, server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    folder = arena(tmp_path, server, ["sees-1", "ignores", "refuses"])
    with pytest.raises(
        ArenaError, match=r"digits: its tasks hold pictures.*too few players.*`takes: \[image\]`"
    ):
        await played(folder, 4)
    ledger = ledger_of(folder)
    assert ledger.heads() == (0, 0)
    ledger.close()
    with pytest.raises(ArenaError, match="too few players are left"):
        await played(folder, 4)
    assert len(pictures_asked(server)) == 3
    assert "is played without" not in caplog.text, "nothing is played"
    looked = await asyncio.to_thread(CliRunner().invoke, app, ["doctor", "--dir", str(folder)])
    assert looked.exit_code == 1
    assert "too few players are left" in " ".join(looked.output.split())


@pytest.mark.parametrize(("others", "word"), [([], "✗"), (["sees-2"], "!")])
def test_doctor_looks_at_what_settings_say_before_any_run(
    tmp_path: Path, server: OpenAIServer, others: list[str], word: str
) -> None:
    folder = arena(tmp_path, server, ["sees-1", "ignores", *others], ignores=[])
    output = CliRunner().invoke(app, ["doctor", "--dir", str(folder)]).output
    assert f"{word} pictures and sound" in output


async def test_settings_say_who_sees_and_nobody_is_asked(tmp_path: Path, server: OpenAIServer) -> None:
    takes: dict[str, Any] = {"sees-1": ["image"], "guesses": ["image"], "ignores": [], "sees-2": ["image"]}
    folder = arena(tmp_path, server, [*takes], **takes)
    with open_arena(folder) as opened:
        assert left_out(opened.settings, None) == {"digits": {"ignores": ["image"]}}
        assert media_to_ask(opened.settings, opened.ledger) == {}
    assert await played(folder, 40) == {"sees-1", "sees-2", "guesses"}
    assert pictures_asked(server) == []
    with open_arena(folder) as opened:
        ranked = [row.player for row in opened.leaderboard() if row.player in ("sees-1", "sees-2", "guesses")]
    assert ranked[-1] == "guesses"


def test_the_worst_of_a_probe_counts_its_picture() -> None:
    price = Price("stated", (Rate(0, 10**9),), (Rate(0, 0),))
    call, _ = media_call("image")
    without, seen = worst_probe(price), worst_probe(price, ["image"])
    assert without is not None
    assert seen is not None
    size = sum(len(text.encode()) for _, text in call.messages)
    assert seen - without > 1_000 * (size + 255)


async def test_of_three_who_answer_tasks_about_pictures_the_one_who_guesses_is_last(
    tmp_path: Path, server: OpenAIServer
) -> None:
    rows = ["prompt,image,expected"]
    for digits in ("1234", "5678", "9031", "4607", "8215", "3920", "7456", "2068"):
        (tmp_path / f"{digits}.png").write_bytes(b64decode(picture_of(digits).partition(",")[2]))
        rows.append(f"Which digits?,{digits}.png,{digits}")
    (tmp_path / "pictures.csv").write_text("\n".join(rows), "utf-8")
    models = ["sees-1", "guesses", "sees-2", "refuses"]
    players = [
        {"name": each, "model": f"openai:{each}", "base_url": server.url, "family": each}
        | ({"takes": ["image"]} if each == "guesses" else {})
        for each in models
    ]
    folder = write_arena(
        tmp_path, players, engine={"probe": True}, game="tasks", tasks="pictures.csv", rules={}
    )
    assert await played(folder, 40) == {"sees-1", "sees-2", "guesses"}
    with open_arena(folder) as opened:
        ranked = [row.player for row in opened.leaderboard() if row.player != "refuses"]
        assert seated(opened.settings, opened.ledger) == ["sees-1", "guesses", "sees-2"]
    assert ranked[-1] == "guesses"
    asked = [one.body["messages"][-1]["content"] for one in server.requests if "messages" in one.body]
    shown = [parts for parts in asked if isinstance(parts, list) and "Which digits?" in str(parts)]
    assert shown
    assert all(
        "base64," in part["image_url"]["url"] for parts in shown for part in parts if "image_url" in part
    )
