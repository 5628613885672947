"""One task of the arena's owner: what contestants are asked, and what is known of a good answer. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from pydantic import Field

from peerage.formats.texts import folded
from peerage.game import SettingsSection
from peerage.game.media import Opener, unopened
from peerage.game.protocol import Message, Speaker
from peerage.games.task_files import unknown
from peerage.games.tasks.seen import MEDIA, marks, said
from peerage.judging.checks.credit import Check, described
from peerage.judging.checks.reading import check_of, usual_check
from peerage.values.figures import suggest
from peerage.values.texts import MARK_BEGINS, storable

COLUMNS = (
    *("prompt", "messages", "system", "expected", "check", "rubric", "category", "id", "weight"),
    *MEDIA,
)
"""Columns of a file of tasks, besides `meta.…` and the variables of a template."""
MOST_WEIGHT = 100
ROLES: tuple[Speaker, ...] = get_args(Speaker)
Turn: TypeAlias = tuple[Literal["system", "user", "assistant"], str]


class Task(SettingsSection):
    """One task, as a match is given it."""

    id: str = Field("", max_length=200, description="Its name in tables; by default its place in the list.")
    messages: tuple[Turn, ...] = Field((), description="Turns of the request, each a role and its text.")
    expected: Any = Field(None, description="A right answer, or a list of them.")
    checks: tuple[dict[str, Any], ...] = Field((), description="Checks that an answer is held to.")
    rubric: str = Field("", description="Words to judges about good answers to this task.")
    category: str = Field("", max_length=200, description="Free text; tables are split by it.")
    weight: int = Field(1, ge=1, le=MOST_WEIGHT, description="How often it comes up against the others.")
    vars: dict[str, str] = Field(default_factory=dict, description="What fills the places of a template.")

    left_out: tuple[str, ...] = Field((), description="Assertions of promptfoo that are not made here.")

    def drawn(self) -> dict[str, Any]:
        """Return all that a match needs of it."""
        drawn: dict[str, Any] = {"task": self.id, "messages": [list(turn) for turn in self.messages]}
        stated = {
            "category": self.category,
            "rubric": self.rubric,
            "checks": list(self.checks),
            "vars": self.vars,
        }
        drawn |= {key: value for key, value in stated.items() if value}
        if self.expected is not None:
            drawn["expected"] = self.expected
        if self.weight != 1:
            drawn["weight"] = self.weight
        return drawn


# ------------------------------------------------------------------------------------------- as written


def templates_of(stated: Mapping[str, Any]) -> Templates:
    """Return the templates that rules state; anything else counts for nothing, and validation reports it."""
    arena, players = stated.get("template"), stated.get("templates")
    of_players = players if isinstance(players, Mapping) else {}
    return Templates(
        arena if isinstance(arena, str) else "",
        {name: text for name, text in of_players.items() if isinstance(text, str)},
    )


Taker: TypeAlias = Callable[[str, str], None]
"""Takes in a problem: its column, and what is wrong with the remedy."""


class Templates(NamedTuple):
    """Templates of prompts: the arena's, empty for none, and players' by name, empty for one without."""

    arena: str = ""
    players: Mapping[str, str] = {}

    @property
    def kept(self) -> frozenset[str]:
        """Return the columns that players' templates are filled with."""
        return frozenset([name for template in self.players.values() for name in places(template)])

    @property
    def known(self) -> frozenset[str]:
        """Return the columns that any template is filled with."""
        return self.kept | frozenset(places(self.arena))

    @property
    def alone(self) -> bool:
        """Return whether every player has a template, so that a task needs no prompt."""
        return bool(self.players) and all(self.players.values())


def task_of(
    row: Mapping[str, Any],
    templates: Templates,
    check: str,
    problem: Taker,
    *,
    strangers: bool = True,
    opener: Opener = unopened,
) -> dict[str, Any]:
    """Return a task by the columns of `row`, as `Task` has it. `check` is the one of tasks that name none.
    `problem(column, text)` takes in what is wrong, with `strangers` each column that nobody knows; what is
    returned then is of no use."""
    stated = {key: value for key, value in row.items() if value is not None and value != ""}
    for key in stated.keys() - templates.known if strangers else ():
        if wrong := unknown(key, COLUMNS):
            problem(key, wrong)
    seen: dict[str, str] = {}
    for key in [key for key in MEDIA if key in stated]:
        try:
            seen[key] = marks(key, stated[key], opener)
        except ValueError as error:
            problem(key, str(error))
    used = templates.known.difference(MEDIA)
    texts = {key: cell_text(cell) if key in used else seen.get(key, "") for key, cell in stated.items()}
    turns = list(_turns(stated, texts, templates, opener, problem))
    if turns:
        turns[-1] = turns[-1][0], _with_seen(turns[-1][1], seen, templates.arena)
    expected = _expected(stated.get("expected"))
    task: dict[str, Any] = {"messages": turns, "expected": expected}
    for key in ("rubric", "category", "id"):
        if (text := stated.get(key)) is not None:
            if not isinstance(text, str | int) or isinstance(text, bool) or not str(text).strip():
                problem(key, f"found {text!r:.60}; expected some text")
            else:
                task[key] = storable(str(text)).strip() if key == "rubric" else _label(str(text))
                if not task[key]:
                    problem(key, f"found {text!r:.60}; expected something that can be seen")
    if "weight" in stated and (weight := _weight(stated["weight"], problem)):
        task["weight"] = weight
    try:
        checks = list(_checks(stated.get("check"), check, expected))
    except ValueError as error:
        problem("check" if "check" in stated else "expected", str(error))
        checks = []
    task["checks"] = [msgspec.json.decode(msgspec.json.encode(check)) for check in checks]
    if templates.kept or (seen and templates.players):
        for player, template in templates.players.items():
            filled(template, texts, problem, f"the template of {player}")
        task["vars"] = {key: texts.get(key, "") for key in sorted({*templates.kept, *seen})}
    return task


def _with_seen(text: str, texts: Mapping[str, str], template: str) -> str:
    """Return a prompt with the pictures and sounds behind it for which the template has no place."""
    seen = "".join([texts.get(key, "") for key in MEDIA if key not in places(template)])
    return f"{text}\n\n{seen}" if seen else text


def _label(text: str) -> str:
    """Return an id or a category as a person sees it, since those that look alike are the same."""
    return " ".join(unicodedata.normalize("NFC", folded(storable(text))).split())


def cell_text(value: Any) -> str:
    """Return a cell as the text that fills a place: what is no text as JSON."""
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _expected(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    return [_expected(part) for part in value] if isinstance(value, list) else value


def _weight(written: Any, problem: Taker) -> int:
    try:
        weight = int(str(written).strip())
    except ValueError:
        weight = 0
    if not 1 <= weight <= MOST_WEIGHT or isinstance(written, bool):
        problem("weight", f"found {written!r:.60}; expected a whole number from 1 to {MOST_WEIGHT}")
        return 0
    return weight


def _checks(written: Any, usual: str, expected: Any) -> Iterator[Check]:
    if written is None and usual and expected is not None:
        written = usual
    if written is None:
        standard = usual_check(expected)
        if standard is not None:
            yield standard
    elif isinstance(written, list):
        yield from [check_of(check, expected) for check in written]
    else:
        yield check_of(written, expected)


def _turns(
    row: Mapping[str, Any], texts: Mapping[str, str], templates: Templates, opener: Opener, problem: Taker
) -> Iterator[Turn]:
    """Yield the turns of a task. Byte for byte what its owner wrote; `texts` fill the template."""
    if "system" in row:
        if isinstance(row["system"], str) and row["system"].strip():
            yield "system", storable(row["system"])
        else:
            problem("system", f"found {row['system']!r:.60}; expected some text")
    ways = [name for name in ("prompt", "messages") if name in row]
    if len(ways) == 2:
        problem("messages", "found both `prompt` and `messages`; keep one of them")
    elif templates.arena:
        if ways and ways[0] not in places(templates.arena):
            problem(
                ways[0], f"the `template` does not use it; write {{{{{ways[0]}}}}} there, or leave one out"
            )
        yield "user", filled(templates.arena, texts, problem)
    elif "messages" in row:
        yield from _conversation(row["messages"], "system" in row, opener, problem)
    elif "prompt" in row or not templates.alone:
        text = row.get("prompt")
        if isinstance(text, str) and text.strip():
            yield "user", storable(text)
        else:
            instead = f"{text!r:.60}" if "prompt" in row else "nothing"
            problem("prompt", f"found {instead}; expected some text, which contestants are given")


def _conversation(written: Any, has_system: bool, opener: Opener, problem: Taker) -> Iterator[Turn]:
    """Yield the turns of `messages`: a list of `{role, content}`, in a table as JSON."""
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except (ValueError, RecursionError) as error:
            problem("messages", f'no JSON ({error}); write [{{"role": "user", "content": "…"}}]'[:200])
            return
    if not isinstance(written, list) or not written:
        problem("messages", 'expected a list such as [{"role": "user", "content": "…"}]')
        return
    before = "system" if has_system else ""
    for place, turn in enumerate(written, 1):
        at = f"turn {place}"
        if not isinstance(turn, Mapping) or not {"role", "content"} <= turn.keys() or len(turn) > 2:
            problem("messages", f"{at} is {turn!r:.60}; expected role and content, and nothing else")
            return
        role = turn["role"]
        try:
            text = said(turn["content"], opener)
        except ValueError as error:
            problem("messages", f"{at} {error}")
            return
        if role not in ROLES:
            problem("messages", f"{at} has the role {role!r:.40}{suggest(str(role), ROLES)}")
        elif role != "user" and MARK_BEGINS in text:
            problem("messages", f"{at} is of role {role!r}; pictures and sounds are for what the user says")
        elif role == "system" and place > 1:
            problem("messages", f"{at} is a system text, which can only be the first")
        elif role == before:
            problem(
                "messages", f"{at} is another one of role {role!r}; join the two, since models take turns"
            )
        elif role == "assistant" and place == len(written):
            problem("messages", f"{at} is the last and the model's; end with what the user says")
        else:
            before = role
            yield role, text
            continue
        return
    if before == "system":
        problem("messages", "found a system text alone; add what the user says")


# ------------------------------------------------------------------------------------------- templates

_PLACE = re.compile(r"\{\{[ \t]*([^\W\d][\w.-]*)[ \t]*\}\}")


def places(template: str) -> tuple[str, ...]:
    """Return the names of a template's places `{{name}}`, each once; any other brace is text."""
    return tuple(dict.fromkeys(_PLACE.findall(template)))


_HIDDEN = frozenset(("expected", "check", "rubric"))


def filled(template: str, texts: Mapping[str, str], problem: Taker, whose: str = "the template") -> str:
    """Return a template with its places filled; what fills a place is never read as a template itself."""
    for name in places(template):
        if name in _HIDDEN:
            problem(name, f"{whose} would show contestants `{name}`; take {{{{{name}}}}} out of it")
        elif name not in texts:
            problem(name, f"nothing fills {{{{{name}}}}} of {whose}{suggest(name, [*texts])}")
    return _PLACE.sub(lambda place: texts.get(place[1], ""), template)


def messages_of(drawn: Mapping[str, Any], template: str = "") -> tuple[Message, ...]:
    """Return the request that a contestant with that template, or without one, gets for a drawn task."""
    turns = [(role, text) for role, text in drawn["messages"]]
    if template:
        texts = drawn.get("vars", {})
        content = _with_seen(filled(template, texts, lambda column, text: None), texts, template)
        turns = [*[turn for turn in turns if turn[0] == "system"], ("user", content)]
    return tuple([Message(role, "{text}", {"text": text}) for role, text in turns])


# ---------------------------------------------------------------------------------------- whole lists


def numbered(
    tasks: Sequence[Mapping[str, Any]], places_of: Sequence[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return tasks with ids, and what is wrong with the list as a whole; `places_of` says where each is."""
    named: list[dict[str, Any]] = []
    problems: list[str] = []
    prompts: dict[Any, str] = {}
    ids: dict[str, str] = {}
    for place, (task, where) in enumerate(zip(tasks, places_of, strict=True), 1):
        name = str(task.get("id") or place)
        asked = [[*turn] for turn in task.get("messages", ())], task.get("vars", {})
        prompt = json.dumps(asked, ensure_ascii=False) if any(asked) else f"none in {where}"
        if name in ids:
            own = "" if task.get("id") else " (its place in the list)"
            problems.append(f"{where}, column id: {name!r:.80}{own} is the id of {ids[name]} too; rename one")
        if prompt in prompts:
            problems.append(
                f"{where}: the same prompt as {prompts[prompt]}; delete one, or raise the other's `weight`"
            )
        ids.setdefault(name, where)
        prompts.setdefault(prompt, where)
        named.append({**task, "id": name})
    return named, problems


def wanted(checks: Sequence[Check]) -> str:
    """Return what the checks of a task ask for, for people."""
    return "; ".join([described(check) for check in checks])
