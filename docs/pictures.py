"""Draws the pictures of the documentation from a real run: `python docs/pictures.py`; needs Chromium.

Plays the demo in a temporary folder and keeps what a spectator sees half-way, the table at the end, pages.
"""

from __future__ import annotations

import asyncio
import io
import re
import tempfile
from pathlib import Path
from shutil import which

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from peerage.arena import Arena, open_arena
from peerage.cli.begin.demo import demo_text
from peerage.cli.play.live import Spectator, _drawing
from peerage.cli.read.leaderboard import show_leaderboard
from peerage.engine.run.runner import Runner
from peerage.games.duel.play import GAME
from peerage.players.client import Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings
from peerage.site.addresses import match_page
from peerage.site.export.build import build_folder

IMAGES = Path(__file__).parent / "images"
MATCHES = 300
WIDTH = 96
SHOWN = 3
"""The match whose page is shown."""


def save(console: Console, name: str, title: str) -> None:
    """Write what a recording console showed, as an SVG that loads nothing from elsewhere."""
    picture = console.export_svg(title=title, unique_id=name)
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = "\n".join(line.rstrip() for line in picture.splitlines() if line.strip())
    (IMAGES / f"{name}.svg").write_text(picture + "\n", "utf-8")


def recorder() -> Console:
    return Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)


def paced(player: PlayerSettings) -> Client:
    return PacedClient(HouseClient(player), lambda call, answer: answer.latency_s / 80)


def watched(arena: Arena) -> None:
    """Play, and keep the live view when half of the matches are done."""
    console = recorder()
    spectator = Spectator(arena, MATCHES, console)

    async def watch(runner: Runner) -> None:
        spectator._runner = runner
        while runner.progress().settled < MATCHES // 2:
            await asyncio.sleep(0.05)
        console.print(_drawing(spectator._view(runner.progress())))

    arena.run(MATCHES, observe=spectator.observe, beside=watch, clients=paced)
    save(console, "live", "peerage demo")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "arena.yaml").write_text(demo_text(1, rules=GAME.demo.rules), "utf-8")
        with open_arena(folder) as arena:
            watched(arena)
            console = recorder()
            console.print(Text.from_ansi(_table(arena)))
            save(console, "leaderboard", "peerage leaderboard")
        pages(folder, folder / "site")


def pages(arena: Path, folder: Path) -> None:
    """Keep the first page of the site of the arena in a folder, and a match; the site goes to `folder`."""
    build_folder(arena, folder)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        for name, path, height in (("leaderboard", "index.html", 1800), ("match", match_page(SHOWN), 900)):
            tab = browser.new_page(viewport={"width": 1040, "height": height}, color_scheme="light")
            tab.goto(f"file://{folder}/{path}")
            tab.screenshot(path=IMAGES / f"site-{name}.png")
        browser.close()


def _table(arena: Arena) -> str:
    """The leaderboard as a terminal gets it."""
    import contextlib

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    with contextlib.redirect_stdout(out):
        show_leaderboard(arena)
    return out.getvalue()


if __name__ == "__main__":
    main()
