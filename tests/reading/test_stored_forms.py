"""Every stored form is parsed in one place: nobody else declares a part of it to read it by."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.test_imports import SOURCE

FORMS = {
    "ledger/forms/codec.py": "fixtures, records and replies, each whole and as a header",
    "ledger/forms/codec_requests.py": "requests, whole, and what is shown of them",
    "ledger/forms/narrow.py": "columns of the narrow table",
    "ledger/ledger.py": "entries of any topic, by the struct of who writes them",
    "ledger/check/kept_checkpoints.py": "checkpoints",
    "ledger/topics/outside.py": "outside results",
    "ledger/topics/places.py": "benches",
    "ledger/topics/public.py": "opinions",
    "ledger/topics/secret.py": "the arena's secret",
    "ledger/topics/settings_log.py": "settings, and registrations of players",
    "ledger/topics/uptimes.py": "hosts that are up",
    "ledger/topics/votes.py": "people's votes",
    "ledger/topics/waits.py": "waits",
    "standings/accounts.py": "snapshots",
    "engine/record/memory.py": "facts, as a game's memory takes them",
    "engine/record/model_watch.py": "changes of models",
    "game/levels.py": "facts about tasks",
    "challenges/pool.py": "facts, details and entries about challenges",
    "games/rejudge/recorded.py": "what is drawn for answers that are judged again",
    "judging/marks/ballots.py": "details about ballots",
    "judging/measures/known.py": "details about tasks",
}
"""Who parses what is stored in a ledger."""
NOT_STORED = {
    "game/protocol.py": "what a program printed",
    "game/work.py": "how a command ended",
    "settings/media.py": "the list of an arena's folder of pictures",
    "sandbox/native/commands.py": "how the launcher of a jail ended",
    "sandbox/folder.py": "a patch, which is a reply's text",
    "game/texts.py": "texts of rules, made one key",
    "values/sealing.py": "the value in a sealed one, whatever it is",
    "judging/checks/programs.py": "what a program printed",
    "playing/requirements.py": "two statements of rules, to compare them",
    "render/data.py": "what a view holds, made plain",
    "views/leaderboard/what_if.py": "rules of panels, made plain",
    "site/export/build.py": "the list of an export's files",
    "site/export/made.py": "of what the pages in a folder were made",
    "site/export/publishing.py": "the files of a published arena",
    "site/people/voting_pages.py": "what a browser sent",
    "games/color_obfuscation/data_json.py": "a benchmark's file",
}
"""Who parses JSON of another kind."""
OTHERS = ("formats", "players", "ratings")
"""Rooms that read what is in no ledger."""


def parsed(path: Path) -> Iterator[str]:
    """The types that a module parses JSON into, "" where it says none; what is made plain is left out."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if "json.Decoder" in text or "json.decode" in text else ():
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called.endswith("json.Decoder"):
            yield ast.unparse(node.args[0])
        elif called.endswith("json.decode") and "json.encode" not in ast.unparse(node.args[0]):
            yield next((ast.unparse(word.value) for word in node.keywords if word.arg == "type"), "")


def parsers() -> dict[str, list[str]]:
    """What each module parses JSON into."""
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in OTHERS]
    found = {path.relative_to(SOURCE).as_posix(): [*parsed(path)] for path in sorted(files)}
    return {name: types for name, types in found.items() if types}


def test_what_is_stored_is_parsed_by_those_alone_who_write_it() -> None:
    assert parsers().keys() == FORMS.keys() | NOT_STORED.keys()


def test_a_stored_form_has_one_decoder() -> None:
    kinds = Counter(kind for name, types in parsers().items() if name in FORMS for kind in types)
    assert [kind for kind, count in kinds.items() if count > 1 and kind[:1].isupper()] == []
