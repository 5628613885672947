"""Pictures and sounds on their way to players: over every wire, in order, by their bytes; their tokens."""

from __future__ import annotations

import base64
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.players.models.test_wiring import each, wired
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.calls.call_costs import reach, usual_call, worst_of
from peerage.engine.calls.player_runtime import PlayerRuntime, priced
from peerage.game.bounds import CallBound
from peerage.game.media import Media
from peerage.game.protocol import Text
from peerage.players import open_client
from peerage.players.agents.acp_protocol import prompt_blocks
from peerage.players.client import Answer, Call, Later, NotTaken, PlayerError
from peerage.players.media import chat_content, tokens_of
from peerage.players.prices import Price, price_of
from peerage.settings import PlayerSettings


def picture(width: int = 40, height: int = 30, color: str = "red") -> tuple[Media, bytes]:
    Image.new("L", (width, height), int(color == "blue")).save(out := BytesIO(), "PNG")
    body = out.getvalue()
    return Media(sha256(body).hexdigest(), "image/png", len(body), width, height), body


RED, RED_BYTES = picture()
BLUE, BLUE_BYTES = picture(color="blue")
WAV_BYTES = b"RIFF\x24\x00\x00\x00WAVEfmt "
WAV = Media(sha256(WAV_BYTES).hexdigest(), "audio/wav", len(WAV_BYTES), seconds=2.5)
BODIES = {RED.sha256: RED_BYTES, BLUE.sha256: BLUE_BYTES, WAV.sha256: WAV_BYTES}


def call(*messages: tuple[Any, str], media: dict[str, bytes] = BODIES) -> Call:
    return Call("k", "contestant", messages, Text(), 50, None, "seed", seat="A", media=media)


def order_of(kind: str, asked: Any) -> list[Any]:
    """The parts of the last user turn as one request has them: texts, and the bytes of pictures."""
    if kind == "compatible":
        content = asked["messages"][-1]["content"]
        return [
            part.get("text")
            or base64.b64decode(part["image_url"]["url"].removeprefix("data:image/png;base64,"))
            for part in content
        ]
    if kind == "anthropic":
        content = asked["messages"][-1]["content"]
        return [part.get("text") or base64.b64decode(part["source"]["data"]) for part in content]
    assert kind == "google"
    content = asked["contents"][-1]["parts"]
    return [part.get("text") or base64.urlsafe_b64decode(part["inlineData"]["data"]) for part in content]


@each
async def test_pictures_arrive_by_their_bytes_and_in_their_places(kind: str, tmp_path: Path) -> None:
    asked = call(("system", "See."), ("user", f"Left {RED.mark} right"), ("user", f"{BLUE.mark}\nWhich?"))
    async with wired(kind, tmp_path) as player:
        answer = await player.answer(asked)
        sent = player.asked()
    assert answer.text == "Hello."
    if kind in ("compatible", "anthropic", "google"):
        parts = order_of(kind, sent)
        assert parts == ["Left ", RED_BYTES, " right\n\n", BLUE_BYTES, "\nWhich?"]
        return
    assert sent["messages"][1]["content"] == f"Left [{RED.words}] right"
    assert {name: each["type"] for name, each in sent["media"].items()} == {
        RED.sha256: "image/png",
        BLUE.sha256: "image/png",
    }
    assert base64.b64decode(sent["media"][RED.sha256]["base64"]) == RED_BYTES


@pytest.mark.parametrize("kind", ["compatible", "anthropic", "google"])
async def test_what_is_blank_between_pictures_is_no_part(kind: str, tmp_path: Path) -> None:
    async with wired(kind, tmp_path) as player:
        await player.answer(call(("user", f"{RED.mark}\n\n{BLUE.mark}")))
        assert order_of(kind, player.asked()) == [RED_BYTES, BLUE_BYTES]
    assert [block["type"] for block in prompt_blocks(f"{RED.mark} ", BODIES, {"image": True})] == ["image"]


@each
async def test_texts_without_marks_are_sent_as_ever(kind: str, tmp_path: Path) -> None:
    async with wired(kind, tmp_path) as player:
        await player.answer(call(("user", "Plain"), media={}))
        without = player.asked()
        await player.answer(call(("user", "Plain")))
        assert player.asked() == without
    if kind == "compatible":
        assert without["messages"] == [{"role": "user", "content": "Plain"}]
    assert "media" not in without


@each
async def test_a_picture_whose_bytes_are_lost_is_said_in_words_and_nothing_is_sent(
    kind: str, tmp_path: Path
) -> None:
    async with wired(kind, tmp_path) as player:
        with pytest.raises(PlayerError, match=f"picture {RED.sha256[:8]}.*not in the ledger") as failed:
            await player.answer(call(("user", RED.mark), media={}))
        assert not (tmp_path / "asked.json").exists()
    assert failed.value.kind == "request"
    assert not failed.value.maybe_paid


@pytest.mark.parametrize("kind", ["compatible", "google", "anthropic"])
async def test_sound_goes_where_it_is_taken(kind: str, tmp_path: Path) -> None:
    async with wired(kind, tmp_path) as player:
        if kind == "anthropic":
            with pytest.raises(NotTaken, match="does not take sound, and the request holds a sound"):
                await player.answer(call(("user", f"Hear {WAV.mark}")))
            return
        await player.answer(call(("user", f"Hear {WAV.mark}")))
        sent = player.asked()
    if kind == "compatible":
        data = base64.b64encode(WAV_BYTES).decode()
        heard = {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
        assert sent["messages"][0]["content"] == [{"type": "text", "text": "Hear "}, heard]
    else:
        part = sent["contents"][0]["parts"][1]["inlineData"]
        assert "audio/wav" in part.values()
        assert base64.b64decode(part["data"]) == WAV_BYTES


async def test_special_tokens_next_to_a_picture_are_broken_as_without_one(tmp_path: Path) -> None:
    async with wired("compatible", tmp_path) as player:
        await player.answer(call(("user", f"<|im_end|> {RED.mark}")))
        first = player.asked()["messages"][0]["content"]
        await player.answer(call(("user", "<|im_end|> ")))
        plain = player.asked()["messages"][0]["content"]
    assert first[0] == {"type": "text", "text": plain}
    assert plain != "<|im_end|> "


async def test_a_picture_in_another_turn_than_a_user_s_is_turned_down_in_words(tmp_path: Path) -> None:
    async with wired("compatible", tmp_path) as player:
        with pytest.raises(PlayerError, match="not the user's"):
            await player.answer(call(("system", RED.mark), ("user", "x")))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid content type. image_url is only supported by certain models."),
        (404, "No endpoints found that support image input"),
        (400, "this model does not support image input (ref: b8bd)"),
        (
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        ),
        (400, "glm is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one prompt."),
        (400, "Image input modality is not enabled for models/gemma-3-1b-it"),
        (422, "messages[0]: unknown variant `image_url`, expected `text` at line 1 column 80"),
        (400, "'messages.0' : for 'role:user' property 'content' must be a string"),
        (500, "this model is missing data required for image input"),
    ],
)
async def test_servers_that_take_no_pictures_are_understood(status: int, message: str) -> None:
    async with OpenAIServer() as server:
        server.always(behave.status(status, error={"message": message}))
        settings = PlayerSettings(model="openai:tiny", name="P", base_url=server.url)
        client = open_client(settings, {}, Path())
        await client.start()
        try:
            with pytest.raises(NotTaken, match="openai:tiny does not take pictures") as failed:
                await client.answer(call(("user", RED.mark)))
            with pytest.raises(PlayerError) as plain:
                await client.answer(call(("user", "x")))
        finally:
            await client.close()
    assert message.rstrip(".")[:40] in str(failed.value)
    assert not isinstance(plain.value, NotTaken)
    assert len(server.requests) < 5


@pytest.mark.parametrize(
    "message", ["image exceeds 5 MB maximum", "Unsupported image format", "rate limited", "context length"]
)
async def test_other_refusals_of_a_picture_say_nothing_of_what_a_model_takes(message: str) -> None:
    async with OpenAIServer() as server:
        server.always(behave.status(400, error={"message": message}))
        settings = PlayerSettings(model="openai:tiny", name="P", base_url=server.url)
        client = open_client(settings, {}, Path())
        await client.start()
        with pytest.raises(PlayerError) as failed:
            await client.answer(call(("user", RED.mark)))
        await client.close()
    assert not isinstance(failed.value, NotTaken)


def test_an_agent_over_acp_gets_blocks_of_what_it_takes() -> None:
    blocks = prompt_blocks(f"a{RED.mark}b{WAV.mark}", BODIES, {"image": True, "audio": True})
    assert [block["type"] for block in blocks] == ["text", "image", "text", "audio"]
    assert blocks[1]["mimeType"] == "image/png"
    assert base64.b64decode(blocks[1]["data"]) == RED_BYTES
    assert prompt_blocks("plain", {}, {}) == [{"type": "text", "text": "plain"}]
    with pytest.raises(NotTaken, match="does not take sound"):
        prompt_blocks(f"a{WAV.mark}", BODIES, {"image": True})
    with pytest.raises(NotTaken, match="does not take pictures"):
        prompt_blocks(RED.mark, BODIES, {})


# ---------------------------------------------------------------------------------------------------- prices


def sized(width: int, height: int) -> Media:
    return Media("0" * 64, "image/png", 100_000, width, height)


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("openai:gpt-4o", (1024, 1024), 2_520),  # patches of the newer models; tiles: 85 + 4 * 170 = 765
        ("openai:gpt-4o-mini", (1024, 1024), 34 * 765),
        ("openai:gpt-4o", (2048, 4096), 20_153),
        ("openai:gpt-4o", (512, 512), 630),
        ("anthropic:claude-haiku-4-5", (1000, 1000), 1_334),
        ("anthropic:claude-haiku-4-5", (29, 29), 4),
        ("anthropic:claude-haiku-4-5", (4000, 3000), 4_784),
        ("google:gemini-2.5-flash", (100, 100), 1_120),
        ("google:gemini-2.5-flash", (4000, 3000), 24 * 258),
        ("ollama:llava", (1000, 1000), 5_184),
        (":openai:gpt-4o", (1000, 1000), 5_184),
    ],
)
def test_a_picture_counts_as_many_tokens_as_its_provider_may_count(
    model: str, size: tuple[int, int], tokens: int
) -> None:
    assert tokens_of(sized(*size), model) == tokens


def test_sound_counts_by_the_second_and_of_an_unknown_provider_by_its_bytes_too() -> None:
    sound = Media("0" * 64, "audio/mpeg", 100_000, seconds=10.2)
    assert tokens_of(sound, "google:gemini-2.5-flash") == tokens_of(sound, "openai:gpt-audio") == 327
    assert tokens_of(sound, "vllm:x") == 25_000


def test_the_dearest_count_is_that_of_nobody() -> None:
    for size in ((16, 16), (640, 480), (3000, 200), (6000, 6000)):
        known = [tokens_of(sized(*size), f"{name}:x") for name in ("openai", "anthropic", "google")]
        assert tokens_of(sized(*size)) >= max(known)


def test_sound_that_costs_more_than_text_counts_so_in_the_worst_case_and_in_the_bill() -> None:
    from datetime import date

    settings = PlayerSettings(model="openai:gpt-audio")
    price = price_of(settings, date(2026, 7, 1))
    assert price.audio_times > 1
    assert price.media_tokens([WAV]) == 80 * price.audio_times
    runtime = PlayerRuntime(settings, open_client(PlayerSettings(model="house:0.5"), {}, Path()), price)
    prompt = (("user", f"Hear {WAV.mark} and see {RED.mark}{RED.mark}"),)
    answer = Answer("x", 1.0, input_tokens=100, output_tokens=0)
    heard, read = priced(runtime, answer, prompt=prompt), priced(runtime, answer)
    assert heard.cost_nano == price.cost_nano(100 + 80 * (price.audio_times - 1), 0, 0)
    assert read.cost_nano == price.cost_nano(100, 0, 0)
    assert (heard.used, read.used) == ({"images": 2.0, "audio_seconds": 2.5}, {})
    stated = priced(runtime, Answer("x", 1.0, used={"images": 1, "audio_seconds": 2}), prompt=prompt)
    assert stated.used == {"images": 1, "audio_seconds": 2}


def test_plan_and_budget_count_the_tokens_of_a_picture() -> None:
    price = price_of(PlayerSettings(model="openai:x", price={"input": 1.0, "output": 0.0}), None)  # type: ignore[arg-type]
    bound = CallBound("A", 1.0, 2, 1_000, 250, 100, 100)
    shown = bound._replace(media=(sized(1024, 1024), sized(512, 512)))
    tokens = 2_520 + 630
    assert usual_call(shown, price).input_tokens - usual_call(bound, price).input_tokens == tokens
    assert worst_of(shown, price) - worst_of(bound, price) == 2 * tokens * 1_000
    assert reach(shown, price) - reach(bound, price) == tokens * 1_000
    assert Price().media_tokens(shown.media) == tokens_of(sized(1024, 1024)) + tokens_of(sized(512, 512))


def test_content_of_a_text_without_marks_is_the_text() -> None:
    assert chat_content("a", {}) == "a"
    assert chat_content("", {}) == ""


async def test_a_person_finds_pictures_in_the_arena_s_folder_and_is_told_where(tmp_path: Path) -> None:
    client = open_client(PlayerSettings(model="human:ann"), {}, tmp_path)
    await client.start()
    with pytest.raises(Later):
        await client.answer(call(("user", f"Look: {RED.mark}")))
    await client.close()
    assert (tmp_path / RED.place).read_bytes() == RED_BYTES
    (tmp_path / RED.place).write_bytes(b"another")
    with pytest.raises(Later):
        await client.answer(call(("user", f"Look: {RED.mark}")))
    assert (tmp_path / RED.place).read_bytes() == RED_BYTES
    (tmp_path / "arena.yaml").write_text("players: ['human:ann', 'house:0.5']\n", "utf-8")
    done = CliRunner().invoke(app, ["play", "--as", "ann", "--dir", str(tmp_path)], input="")
    shown = " ".join(done.output.split())
    assert f"Look: [{RED.words}]" in shown
    assert f"{RED.sha256}.png" in shown
