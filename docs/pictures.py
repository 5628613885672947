"""Makes the pictures of the documentation: `make pictures`, or `python docs/pictures.py`; needs Chromium.

Plays three arenas in a temporary folder and keeps in docs/images what a spectator of the demo sees half-way,
and pages of an arena with prompts of one's own: home, a match, two players compared; and a werewolf match.
House players of known skill play under the names of models, with answers that are written below.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which
from typing import Any

import msgspec
import yaml
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from peerage.arena import open_arena
from peerage.cli.begin.demo import demo_text
from peerage.cli.play.live import Spectator, _drawing
from peerage.engine.run.runner import Runner
from peerage.games.duel.play import GAME
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings
from peerage.site.addresses import match_page, pair_page

IMAGES = Path(__file__).parent / "images"
MOST_BYTES = 150_000
"""What a picture may take: a larger one fails."""
MATCHES, DUELS, NIGHTS = 300, 180, 12
"""Matches of the demo, of one's own prompts, and of werewolf."""
WIDTH = 1040
"""Pixels that a page is wide."""

SKILLS = {
    "openrouter:anthropic/claude-opus-4.5": (0.97, 5.0),
    "openrouter:google/gemini-3-pro-preview": (0.8, 2.0),
    "openrouter:openai/gpt-5.1-mini": (0.86, 0.25),
    "openrouter:qwen/qwen3-235b-a22b": (0.6, 0.3),
    "openrouter:deepseek/deepseek-v3.2": (0.5, 0.28),
    "openrouter:mistralai/mistral-large-2411": (0.35, 2.0),
    "openrouter:x-ai/grok-4-fast": (0.25, 0.2),
}
"""The players: their skill, and dollars for a million tokens in; a token out costs five times that."""

TASKS = {
    "billing": "A customer was charged **twice** for order 4417 (3 mugs at $12.50, $4 shipping). "
    "Answer the mail and show the sum that you refund.",
    "delivery": "“My parcel has been in Leipzig for nine days. When does it come?” "
    "Answer the mail; our rule: after ten days we send the order again.",
    "returns": "“The lamp is broken, and I have thrown the box away. Can I still return it?” "
    "Answer the mail in a friendly tone, in at most 120 words.",
}
GOOD = {
    "billing": """Dear customer,

I am sorry: order 4417 was **charged twice**. You get one charge back:

| item | number | price | sum |
|---|--:|--:|--:|
| mug | 3 | $12.50 | $37.50 |
| shipping | 1 | $4.00 | $4.00 |
| **refund** | | | **$41.50** |

The money is on your card within *three working days*; nothing is left for you to do.""",
    "delivery": """Hello,

nine days in one place is too long, and I apologize. Here is what happens now:

1. **Today** I asked the carrier to search for the parcel.
2. If it has not moved by **tomorrow evening**, which is day ten, we send your order again, free of charge.
3. Should both arrive, keep the second one.

You will get a tracking number by mail either way.""",
    "returns": """Hello,

yes, you can: **a broken lamp is our fault, not the box's.**

- Put it into any carton, well padded.
- Print the label in this mail; shipping is free.
- Choose: *a new lamp* or *your money back*.

A photo of the damage speeds it up, but is not needed. I am sorry for the trouble!""",
}
POOR = {
    "billing": "We are sorry. The refund is 3 × $12.50 = **$37.50**. Please allow up to 14 days.",
    "delivery": "Thank you for your patience. Parcels are sometimes late. Please ask the carrier.",
    "returns": "Returns need the original box. Without it we cannot take the lamp back.",
}

CLOSINGS = (
    "Warm regards,\nyour support team",
    "With apologies, your support team",
    "Best wishes from support",
    "Kind regards, Support",
    "Thank you for writing to us!",
    "Regards, the team",
    "Bye!",
)
"""How each player ends an answer, so that no two answers are the same text."""


class Writer:
    """A house player under a model's name, whose contestants answer the tasks above."""

    def __init__(self, settings: PlayerSettings) -> None:
        skill, _ = SKILLS[settings.model]
        self._closing = CLOSINGS[[*SKILLS].index(settings.model)]
        self._house = HouseClient(settings.model_copy(update={"model": f"house:{skill}"}))

    async def start(self) -> None:
        await self._house.start()

    async def close(self) -> None:
        await self._house.close()

    async def answer(self, call: Call) -> Answer:
        reply = self._house.answer_now(call)
        asked = " ".join(text for _, text in call.messages)
        topic = next((topic for topic, task in TASKS.items() if task in asked), None)
        if call.role != "contestant" or topic is None:
            return reply
        quality = (reply.hidden or {}).get("quality", 0) if isinstance(reply.hidden, dict) else 0
        text = f"{(GOOD if quality > 0.5 else POOR)[topic]}\n\n{self._closing}"
        return msgspec.structs.replace(reply, text=text)


def players(count: int) -> list[dict[str, Any]]:
    """Return the first players as arena.yaml has them."""
    return [
        {
            "model": model,
            "price": {"input": price, "output": 5 * price},
            "open_weights": model.split("/")[0][11:] in ("qwen", "deepseek"),
        }
        for model, (_, price) in [*SKILLS.items()][:count]
    ]


def played(folder: Path, matches: int, **settings: Any) -> None:
    """Write an arena of house players under the names of models to a folder, and play it."""
    folder.mkdir()
    settings = {
        "seed": 4,
        "players": players(7),
        "engine": {"probe": False},
        "pairing": {"window": 12},
        **settings,
    }
    (folder / "arena.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    with open_arena(folder) as arena:
        arena.run(matches, clients=Writer, progress=False)


def watched(folder: Path) -> None:
    """Play the demo in a folder, and keep the live view when half of the matches are done, as an SVG."""
    (folder / "arena.yaml").write_text(demo_text(1, rules=GAME.demo.rules), "utf-8")
    console = Console(record=True, width=96, file=io.StringIO(), force_terminal=True)

    def paced(player: PlayerSettings) -> Client:
        return PacedClient(HouseClient(player), lambda call, answer: answer.latency_s / 80)

    with open_arena(folder) as arena:
        spectator = Spectator(arena, MATCHES, console)

        async def watch(runner: Runner) -> None:
            spectator._runner = runner
            while runner.progress().settled < MATCHES // 2:
                await asyncio.sleep(0.05)
            console.print(_drawing(spectator._view(runner.progress())))

        arena.run(MATCHES, observe=spectator.observe, beside=watch, clients=paced)
    picture = console.export_svg(title="peerage demo", unique_id="live")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)  # loads nothing from elsewhere
    picture = "\n".join(line.rstrip() for line in picture.splitlines() if line.strip())
    (IMAGES / "live.svg").write_text(picture + "\n", "utf-8")


def telling(folder: Path, best: str) -> int:
    """Return the number of a match with a good answer of the best player and a poor one."""
    words = ["match", "--topic", "billing", "--search", "14 days", "--format", "json", "--dir", str(folder)]
    done = subprocess.run([sys.executable, "-m", "peerage", *words], check=True, stdout=subprocess.PIPE)
    rows = json.loads(done.stdout)
    return next(
        row["number"]
        for row in rows
        if [best, 1.0] in map(list, zip(row["players"], row["scores"] or (), strict=False))
    )


def shoot(browser: Browser, page: Path, name: str, height: int, before: str = "") -> None:
    """Keep the upper part of a page in light colours, without the replay's bar; it ends before a heading.

    Raises SystemExit where the picture is too large.
    """
    tab = browser.new_page(viewport={"width": WIDTH, "height": height}, color_scheme="light", bypass_csp=True)
    tab.goto(page.as_uri())
    tab.add_style_tag(content=".replay, #replay { display: none !important }")
    picture = IMAGES / f"{name}.png"
    ending = tab.locator("h2", has_text=before).bounding_box() if before else None
    height = min(height, int(ending["y"]) - 10) if ending else height
    tab.screenshot(path=picture, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    tab.close()
    if picture.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{picture.name} has {picture.stat().st_size:,} bytes, more than {MOST_BYTES:,}")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "demo").mkdir()
        watched(folder / "demo")
        tasks = [{"prompt": task, "category": topic} for topic, task in TASKS.items()]
        played(
            folder / "mail",
            DUELS,
            name="Customer mail",
            game="tasks",
            judging={"judges": 3},
            rules={"tasks": tasks, "samples": "fresh"},
        )
        played(folder / "village", NIGHTS, name="Village", game="werewolf")
        for arena in ("mail", "village"):
            words = ["site", "build", str(folder / f"{arena}-site"), "--dir", str(folder / arena)]
            subprocess.run([sys.executable, "-m", "peerage", *words], check=True, stdout=subprocess.DEVNULL)
        with open_arena(folder / "mail") as arena:
            first, second = (row.player for row in arena.leaderboard().rows[:2])
        number = telling(folder / "mail", first)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
            pages = folder / "mail-site"
            shoot(browser, pages / "index.html", "home", 900, before="Telling matches")
            shoot(browser, pages / match_page(number), "duel", 1030)
            pair = next(
                path
                for path in (pair_page(first, second), pair_page(second, first))
                if (pages / path).exists()
            )
            shoot(browser, pages / pair, "compare", 900)
            shoot(browser, folder / "village-site" / match_page(NIGHTS), "werewolf", 640)
            browser.close()


if __name__ == "__main__":
    main()
