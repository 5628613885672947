"""The gate of `peerage compare`: its exit code, and what other programs read of it.

Names and topics may hold anything: nothing of them is markup in XML, Markdown or a command to GitHub.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

import typer

from peerage.cli.read.leaderboard import told_scope
from peerage.cli.shared.options import ReportFormat, arena_in
from peerage.cli.shared.output import show_whole
from peerage.render import markdown as render
from peerage.render.blocks import Answer
from peerage.values.texts import visible

if TYPE_CHECKING:
    from peerage.views.decision.gate import Gate

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub names the file of a step's summary."""
_ANNOTATIONS = {"shown": "notice", "worse": "error", "open": "warning"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def show_gate(
    folder: Path,
    players: tuple[str, str],
    limit: tuple[str | None, float | None, Literal["wins", "accuracy"] | None],
    scope: tuple[str, str],
    *,
    these: bool,
    by_topic: bool,
    junit: Path | None,
    github: bool,
    force: bool,
    shape: ReportFormat,
) -> None:
    """Write a gate to standard output, to a JUnit file and to GitHub, and leave with its exit code.

    Whatever keeps it from an answer leaves with 2, as mistakes do: 1 says that the new player is worse.
    """
    from peerage.arena import ArenaError
    from peerage.ledger import LedgerError
    from peerage.values.outputs import JUNIT, append, arena_files, refuse, write
    from peerage.values.system_errors import reason
    from peerage.views.decision.gate import gates

    summary = os.environ.get(SUMMARY, "")
    if github and not summary:
        raise typer.BadParameter(f"--github writes to the file that {SUMMARY} names: it is set in workflows")
    try:
        with told_scope(), arena_in(folder) as arena:
            kept = arena_files(folder, arena.ledger.address)
            if junit:
                refuse(junit, JUNIT, kept, force=force)
            percent, elo, of = limit
            game, topic = scope
            found = arena.gate(
                *players,
                percent,
                elo=elo,
                of=of,
                game=game,
                topic=topic,
                these_tasks=these,
                by_topic=by_topic,
            )
            name = arena.settings.name
        if junit:
            write(junit, junit_xml(found, name), JUNIT, kept, force=force)
        if github:
            append(Path(summary), markdown(found, name))
    except LedgerError as error:
        raise ArenaError(str(error)) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise ArenaError(f"{place}{reason(error)}") from None
    if github:  # GitHub reads commands from both; standard output may be JSON
        typer.echo("\n".join(github_commands(found)), err=True)
    blocks = [Answer(found.lines), *([gates(found.parts)] if found.parts else ())]
    show_whole(found, blocks, shape)
    raise typer.Exit(found.exit_code)


def junit_xml(found: Gate, arena: str) -> bytes:
    """Return a gate as JUnit XML: a test case for it, and one for each topic. Worse is a failure, an open one
    is skipped."""
    gates = [found, *found.parts]
    counts = {
        "tests": str(len(gates)),
        "failures": str(sum(gate.decision == "worse" for gate in gates)),
        "errors": "0",
        "skipped": str(sum(gate.decision == "open" for gate in gates)),
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "peerage"} | counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(f"peerage: {arena}")} | counts)
    for gate in gates:
        about = {"classname": "peerage.compare", "name": _xml(gate.claim), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", about)
        message, text = _xml(gate.lines[0]), _xml("\n".join(gate.lines))
        if gate.decision == "worse":
            failure = {"message": message, "type": "worse"}
            ElementTree.SubElement(case, "failure", failure).text = text
        elif gate.decision == "open":
            ElementTree.SubElement(case, "skipped", {"message": message})
        ElementTree.SubElement(case, "system-out").text = text
    ElementTree.indent(root)
    text = ElementTree.tostring(root, "unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _xml(text: str) -> str:
    """Return text that XML can hold."""
    return _NO_XML.sub("\ufffd", visible(text))


def markdown(found: Gate, arena: str) -> str:
    """Return a gate as the summary of a step."""
    from peerage.views.decision.gate import gates

    table = gates([found, *found.parts], f"Peerage: {arena}")
    return render.markdown([Answer(found.lines), table]) + "\n"


def github_commands(found: Gate) -> Iterator[str]:
    """Yield GitHub's commands that annotate a run with a gate, and with each of its topics that is worse."""
    for gate in (found, *[part for part in found.parts if part.decision == "worse"]):
        text = visible(gate.lines[0]).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        yield f"::{_ANNOTATIONS[gate.decision]} title=peerage compare::{text}"
