"""Builds the documentation as a web site: python docs/website.py OUT (`make docs-site`).

The pages of docs/, of games and of examples become one site with a search. The commands of `tour.md` are run,
their output is shown, and the arena that they make is part of the site; `python docs/website.py --tour`
writes that output to docs/tour.md. Formulas become MathML. Nothing that a page loads is elsewhere, and every
link is checked: the build fails otherwise.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parents[1]
NAV = {
    "Start": ["index.md", "tour.md", "quickstart.md", "docker.md", "uner.md"],
    "Play": [
        "players.md",
        "local-models.md",
        "people.md",
        "games.md",
        "gauntlet.md",
        "adapters.md",
        "pairing.md",
    ],
    "Read": [
        "ratings.md",
        "judging.md",
        "judging-figures.md",
        "series.md",
        "site.md",
        "serve.md",
        "ledger.md",
        "ray.md",
    ],
    "Write": ["python.md", "writing-a-game.md", "adding-a-provider.md"],
    "Reference": ["commands.md", "settings.md", "json.md", "sandbox.md", "security.md"],
}
"""The entries of the menu; pages that it does not name follow under More."""

ARENA = "the arena that they made"
"""The words of `tour.md` that become the link to it."""

COLUMNS = 80
"""The width of the terminal of `tour.md`."""

_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_LOADED = re.compile(
    rb"""<(?:script|img|iframe|source|video|embed|object)\b[^>]*?\b(?:src|data)=["']?([^"'\s>]+)"""
    rb"""|<link\b(?![^>]*rel=["']?canonical)[^>]*?\bhref=["']?([^"'\s>]+)"""
)
_STYLED = re.compile(rb"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""")
_LINKED = re.compile(r"""<a\b[^>]*?\bhref=["']?([^"'\s>]+)""")


def staged_names() -> dict[Path, str]:
    """Every page of the site: its file in the repository, and where it is in the site's source."""
    found = {ROOT / "README.md": "index.md"}
    found |= {page: page.name for page in sorted((ROOT / "docs").glob("*.md"))}
    found |= {
        ROOT / f"{name}.md": f"{name.lower()}.md" for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
    }
    for page in sorted((ROOT / "src" / "peerage" / "games").glob("*/README.md")):
        found[page] = f"games/{page.parent.name.replace('_', '-')}.md"
    for page in sorted((ROOT / "examples").glob("*/README.md")):
        found[page] = f"examples/{page.parent.name}.md"
    return found


def stage(source: Path) -> None:
    """Write the pages and what they show to `source`. Raises SystemExit for a link that leads nowhere."""
    names = staged_names()
    for page, name in names.items():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        parts = _LINK.split(page.read_text("utf-8"))  # every second one is a link
        parts[1::2] = [_moved(link, page, name, names, source) for link in parts[1::2]]
        target.write_text(with_formulas("".join(parts)), "utf-8")
    shutil.copy(ROOT / "docs" / "website.css", source)


def _moved(link: str, page: Path, name: str, names: dict[Path, str], source: Path) -> str:
    """A link of `page` as it is in the site; a file that is no page of it is copied there."""
    address, fragment = urldefrag(link)
    if not address or "://" in address:
        return link
    found = (page.parent / unquote(address)).resolve()
    if found.is_dir() and (found / "README.md") in names:
        found /= "README.md"
    if found not in names:
        if not found.is_file():
            raise SystemExit(f"{page.relative_to(ROOT)}: {link} leads nowhere")
        names_of_copy = found.relative_to(ROOT).as_posix()
        where = (
            names_of_copy
            if names_of_copy.startswith("docs/images/")
            else f"files/{names_of_copy.replace('/.', '/')}.txt"
        )
        (source / where).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found, source / where)
    else:
        where = names[found]
    moved = os.path.relpath(where, Path(name).parent)
    return f"{moved}#{fragment}" if fragment else moved


def with_formulas(text: str) -> str:
    """A page with its formulas as MathML: blocks ```math, and $`…`$ in a line, as GitHub reads them."""
    from latex2mathml.converter import convert

    def block(found: re.Match[str]) -> str:
        return f'<div class="formula">{convert(" ".join(found[1].split()), display="block")}</div>'

    def inline(found: re.Match[str]) -> str:
        return convert(found[1]).replace("_", "&#95;").replace("*", "&#42;")

    text = re.sub(r"^```math\n(.*?)^```$", block, text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\$`([^`]+)`\$", inline, text)


def played(text: str, folder: Path) -> str:
    """A page with the output of each line `$ peerage …` of its console blocks, run in `folder`.

    Output that a block has already is replaced.
    """

    def block(found: re.Match[str]) -> str:
        commands = [line for line in found[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(_output(line, folder) for line in commands) + "```"

    return re.sub(r"```console\n(.*?)```", block, text, flags=re.DOTALL)


def _output(line: str, folder: Path) -> str:
    words = line.removeprefix("$ peerage ").split()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    env = {
        **os.environ,
        "COLUMNS": str(COLUMNS),
        "TERM": "dumb",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "PATH": path,
    }
    ours, its = os.openpty()  # a terminal: tables and sentences fit its width
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    parts: list[bytes] = []
    with subprocess.Popen(
        [sys.executable, "-m", "peerage", *words],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
    ) as command:
        os.close(its)
        with contextlib.suppress(OSError):  # the terminal of a command that ended is closed
            while part := os.read(ours, 65_536):
                parts.append(part)
        os.close(ours)
    text = b"".join(parts).decode().replace("\r\n", "\n")
    if command.returncode:
        raise SystemExit(f"{line}: exit code {command.returncode}\n{text}")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    lines = [
        part
        for each in text.strip("\n").splitlines()
        for part in textwrap.wrap(each.rpartition("\r")[2].rstrip(), COLUMNS) or [""]
    ]
    return "\n".join([line, *lines, ""])


def settings(source: Path, address: str) -> str:
    """The settings of mkdocs, in which JSON is YAML; `address` is where the site will be, or empty."""
    import json

    listed = {name for names in NAV.values() for name in names}
    pages = sorted(page.relative_to(source).as_posix() for page in source.rglob("*.md"))
    nav: list[dict[str, list[str]]] = [{part: names} for part, names in NAV.items()]
    nav.append({"Games": [page for page in pages if page.startswith("games/")]})
    nav.append({"Examples": [page for page in pages if page.startswith("examples/")]})
    nav.append({"More": [page for page in pages if "/" not in page and page not in listed]})
    palette = [
        {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "white"},
        {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "black"},
    ]
    features = [
        "navigation.tabs",
        "navigation.top",
        "content.code.copy",
        "search.suggest",
        "search.highlight",
    ]
    return json.dumps({
        "site_name": "Peerage",
        **({"site_url": address} if address else {}),
        "site_description": "Ranks language models by letting them play.",
        "docs_dir": str(source),
        "use_directory_urls": False,  # pages open as files, too
        "nav": nav,
        "theme": {
            "name": "material", "language": "en", "font": False, "features": features, "palette": palette,
            "icon": {"logo": "material/podium"},
        },
        "extra": {"generator": False},
        "extra_css": ["website.css"],
        "plugins": ["search"],
        "markdown_extensions": [
            "admonition", "attr_list", "tables", "toc", "pymdownx.superfences",
            {"pymdownx.highlight": {"use_pygments": True, "pygments_lang_class": True}},
        ],
        "validation": {"nav": {"omitted_files": "warn", "not_found": "warn"}, "links": {
            "not_found": "warn", "anchors": "warn", "unrecognized_links": "warn", "absolute_links": "warn",
        }},
    })  # fmt: skip


def wrong(out: Path) -> Iterator[str]:
    """What is wrong with built pages: what they load from elsewhere, links to files that are not there."""
    for file in sorted(out.rglob("*")):
        if file.suffix not in (".html", ".css"):
            continue
        body = file.read_bytes()
        found = (
            [one for pair in _LOADED.findall(body) for one in pair if one] if file.suffix == ".html" else []
        )
        for address in (*found, *_STYLED.findall(body)):
            if re.match(rb"(?:https?:)?//", address):
                yield f"{file.relative_to(out)} loads {address.decode()}"
        for link in _LINKED.findall(body.decode("utf-8")) if file.suffix == ".html" else ():
            address, _ = urldefrag(link.partition("?")[0])
            if (
                address
                and not re.match(r"[a-z]+:|//", address)
                and not (file.parent / unquote(address)).exists()
            ):
                yield f"{file.relative_to(out)} links to {link}, which is not there"


def build(out: Path) -> None:
    """Write the site to the folder `out`. Raises SystemExit where it would be broken.

    SITE_URL is where it will be. Without it there is no 404.html, whose links are of no use at another depth.
    """
    address = os.environ.get("SITE_URL", "")
    with tempfile.TemporaryDirectory() as name:
        source, folder = Path(name) / "source", Path(name) / "tour"
        folder.mkdir()
        stage(source)
        tour = source / "tour.md"
        text = played(tour.read_text("utf-8"), folder)
        tour.write_text(text.replace(ARENA, f"[{ARENA}](demo/index.html)"), "utf-8")
        shutil.copytree(folder / "pages", source / "demo", ignore=shutil.ignore_patterns(".*"))
        (Path(name) / "mkdocs.yml").write_text(settings(source, address), "utf-8")
        words = [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(out.resolve()),
        ]
        env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        if subprocess.run(words, cwd=name, env=env, check=False).returncode:
            raise SystemExit("the pages were not built; what mkdocs found stands above")
    if not address:
        (out / "404.html").unlink()
    if faults := list(wrong(out)):
        raise SystemExit("\n".join(faults))
    print(f"open {out / 'index.html'}; its search needs a server: python3 -m http.server --directory {out}")


def write_tour() -> None:
    """Write the output of its commands to docs/tour.md."""
    tour = ROOT / "docs" / "tour.md"
    with tempfile.TemporaryDirectory() as name:
        tour.write_text(played(tour.read_text("utf-8"), Path(name)), "utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--tour"]:
        write_tour()
    else:
        build(Path(sys.argv[1]))
