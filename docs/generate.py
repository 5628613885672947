"""Writes docs/settings.md from the settings' schema, docs/commands.md and docs/json.md from the commands, and
docs/games.md from the games.

python -m docs.generate

A test compares what it makes with what is there, so the pages cannot fall behind the code.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.main import get_command

import peerage
from peerage.cli.main import app
from peerage.engine.again.replay import Difference, Elsewhere, ReplayReport
from peerage.game import GameRules
from peerage.game.blocks import Block
from peerage.game.match import Fixture, MatchRecord, Outcome, Totals
from peerage.game.work import AgentStep, ModelCall, Trace
from peerage.games import GAMES
from peerage.games.last_arena.tables import BudgetRow, Cell, Place, ReasonsRow, SortRow
from peerage.judging.marks.ballots import JudgeStatistics
from peerage.judging.measures.favours.search import Favour
from peerage.ledger.check.kept_checkpoints import Extension
from peerage.ledger.check.verify import Problem, Report
from peerage.ratings.accuracy import AccuracyDifference
from peerage.settings import ArenaSettings
from peerage.settings.game_texts import TEXTS
from peerage.settings.lineup import ARENAS
from peerage.values.figures import span
from peerage.views.catalogue import GameRow, PlayerRow
from peerage.views.challenges import ChallengeRow, Tried
from peerage.views.decision.compare import Comparison, Met
from peerage.views.decision.gate import Gate
from peerage.views.judges.people import PeopleRow
from peerage.views.judges.report import ChallengeSort, JudgeRow, JudgesReport, Measure
from peerage.views.leaderboard.corrected import CorrectedRow
from peerage.views.leaderboard.overall import Profile
from peerage.views.leaderboard.row import Row, Weakness
from peerage.views.leaderboard.verdict import Chance, Example, Given, Verdict
from peerage.views.match.exchanges import Digests, ExchangeView, SeatView
from peerage.views.match.match import MatchView
from peerage.views.plan.estimate import Plan, PlanPart
from peerage.views.plan.outlook import Further, Outlook, Pair
from peerage.views.plan.simulate import SimulatedRow
from peerage.views.rejudge import RejudgedPlayer, RejudgeReport
from peerage.views.stats.report import (
    AuthorStats,
    CostStats,
    HostedStats,
    KindStats,
    PlayerStats,
    ProbeStats,
    SourceStats,
    Stats,
    UnfinishedStats,
)
from peerage.views.stats.tasks import TaskRow
from peerage.views.status import HostRow, MatchNow, Status, WaitingMatch, WorkerNow
from peerage.views.tournament import ProgressRow, TournamentReport

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """File name → text of every generated page."""
    return {
        "settings.md": settings_page(),
        "commands.md": commands_page(),
        "json.md": json_page(),
        "games.md": games_page(),
        "python.md": python_page(),
    }


def games_page() -> str:
    lines = [
        "# The games",
        "",
        "What can be played, a page each: rules, settings, an example, what baselines come to. "
        "`peerage games about NAME` shows a game's page in the terminal. This list is made from the code by "
        "`make docs`; [your own game](writing-a-game.md) is one file, and twenty-six "
        "[games of other libraries](adapters.md) are played by adapter.",
        "",
        "Ten of them draw tasks of ten levels, each with about 2¼ times the work of the one before. "
        "`difficulty: auto`, the default, follows everybody's ability through the log: the best solve some "
        "70% of the tasks where all are about as strong, and more where they are not. `peerage verdict` "
        "names a game that hardly tells players apart any more.",
        "",
        "| Game | Contestants | |",
        "|---|---|---|",
    ]
    for name, game in GAMES.items():
        folder = name.replace("-", "_")
        seats = span(game.contestants)
        lines.append(f"| [{name}](../src/peerage/games/{folder}/README.md) | {seats} | {game.about} |")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Everything that `arena.yaml` may say. Only `players` is needed. This page is made from the code by "
        "`make docs`.",
        "",
        "```yaml",
        "name: my models",
        "players:",
        "  - openai:gpt-5-mini                  # one line adds a player",
        "  - {model: anthropic:claude-haiku-4-5, temperature: 0.3}",
        "  - {model: openai:my-model, base_url: 'http://localhost:8000/v1', name: mine}",
        "  - house:0.5                          # needs no key",
        "budget: 5.00                           # dollars at most",
        "```",
        "",
    ]
    schema = ArenaSettings.model_json_schema()
    lines += _section("The arena", schema, schema["$defs"], skip=())
    for name in (
        "GameSettings",
        "PlayerSettings",
        "PriceSettings",
        "Upstreams",
        "Faults",
        "JudgingSettings",
        "CriterionSetting",
        "Pairing",
        "Rating",
        "CostUnit",
        "BudgetSettings",
        "Engine",
        "MediaSettings",
        "HostSettings",
    ):
        about = schema["$defs"][name]
        lines += _section(_TITLES[name], about, schema["$defs"], skip=())
    shared = GameRules.model_json_schema() | {"description": ""}
    lines += _section("`rules` of every game whose prompts are its own", shared, {}, skip=tuple(ARENAS))
    for game in GAMES.values():
        rules = game.rules.model_json_schema()
        lines += _section(f"`rules` of the {game.name}", rules, rules.get("$defs", {}), skip=(*ARENAS, TEXTS))
        for name, about in rules.get("$defs", {}).items():
            if name not in _TITLES and not name.endswith("JudgingRules"):  # stated for the arena
                lines += _section(f"{game.name}: {name}", about, rules["$defs"], skip=())
    return "\n".join(lines).rstrip() + "\n"


_TITLES = {
    "GameSettings": "One of `games`",
    "PlayerSettings": "A player: an item of `players`",
    "PriceSettings": "`price` of a player",
    "Upstreams": "`provider` of an `openrouter:` player",
    "Faults": "`faults` of a house player",
    "JudgingSettings": "`judging`",
    "CriterionSetting": "One of `judging.criteria`",
    "Pairing": "`pairing`",
    "Rating": "`rating`",
    "CostUnit": "`rating.cost_unit`",
    "BudgetSettings": "`budget`",
    "Engine": "`engine`",
    "MediaSettings": "`media`",
    "HostSettings": "One of `hosts`",
}


def _section(
    title: str, schema: Mapping[str, Any], defs: Mapping[str, Any], skip: tuple[str, ...]
) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    if schema.get("description"):
        yield schema["description"]
        yield ""
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for key, about in schema["properties"].items():
        if key not in skip:
            required = key in schema.get("required", ())
            meaning = about.get("description") or _referred(about, defs).get("description", "")
            cells = (f"`{key}`", _kind(about, defs), _default(about, required), meaning)
            yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
    yield ""


def _referred(about: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = defs.get(about.get("$ref", "").rpartition("/")[2], {})
    return found


def _kind(about: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    if "anyOf" in about:
        return " or ".join(_kind(one, defs) for one in about["anyOf"])
    if "$ref" in about:
        return "mapping, see below"
    if "enum" in about:
        return ", ".join(f"`{one}`" for one in about["enum"])
    if "const" in about:
        return f"`{about['const']}`"
    if about.get("additionalProperties", {}) and "$ref" in str(about["additionalProperties"]):
        return "list of names, or mappings by name, see below"
    if about.get("type") == "array":
        items = about.get("items")
        return f"list of {_kind(items, defs).replace('mapping', 'mappings')}" if items else "list"
    name = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "mapping"}
    kind = name.get(about.get("type", ""), about.get("type", "any"))
    return kind + bounds(about)


def bounds(about: Mapping[str, Any]) -> str:
    """The range that the schema of a number or a text states, in full: ` from 1 to 1,000,000`."""
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    parts = [f"{word} {_digits(about[key])}" for key, word in words.items() if key in about]
    if "maxLength" in about:
        parts.append(f"at most {about['maxLength']:,} characters")
    return " " + " ".join(parts) if parts else ""


def _digits(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else repr(number)


def _default(about: Mapping[str, Any], required: bool) -> str:
    if required:
        return "**needed**"
    default = about.get("default")
    if default in ("", [], {}) or isinstance(default, dict) or "default" not in about:
        return f"`{json.dumps(default)}`" if isinstance(default, dict) and default else ""
    return f"`{json.dumps(default)}`"


def commands_page() -> str:
    lines = [
        "# Commands",
        "",
        "What `peerage COMMAND --help` says of every command. This page is made by `make docs`.",
        "",
        "Exit codes: 0 done; 1 it failed (or `verify` found a fault, or a gate of `compare` found "
        "the new player worse); 2 the command or `arena.yaml` needs a "
        "correction; 3 `replay` found no fault, and could not recompute everything, or a gate of "
        "`compare` cannot tell yet; 130 stopped by Ctrl+C; "
        "141 the reader of its output left, as in `peerage run | head` (a run ends in good order then). "
        "`PEERAGE_DEBUG=1` shows tracebacks.",
        "",
    ]
    found = commands()
    lines += ["| command | |", "|---|---|"]
    lines += [f"| `peerage {name}` | {about.help.splitlines()[0]} |" for name, about in found.items()]
    lines.append("")
    for name, about in found.items():
        lines += _command(name, about)
    lines += ["What `--format json` writes: [JSON](json.md)."]
    return "\n".join(lines).rstrip() + "\n"


def python_page() -> str:
    """The public API: every name of `peerage.__all__`."""
    lines = [_PYTHON, "## `peerage.open`", "", *_signature("peerage.open", peerage.open), ""]
    lines += ["## `Arena`", "", inspect.cleandoc(peerage.Arena.__doc__ or ""), ""]
    for name, member in vars(peerage.Arena).items():
        if name.startswith("_"):
            continue
        lines.append(f"### `{name}`\n")
        if isinstance(member, property):
            returned = inspect.signature(member.fget).return_annotation  # type: ignore[arg-type]
            lines += [_code(f"arena.{name} -> {returned}"), "", _paragraphs(member), ""]
        else:
            lines += [*_signature(f"arena.{name}", member), ""]
    lines += [_COMES_BACK, "| class | fields |", "|---|---|"]
    errors = [name for name in peerage.__all__ if name.endswith("Error")]
    kinds = {
        name: getattr(peerage, name)
        for name in peerage.__all__
        if name not in ("Arena", "open", "__version__", *errors)
    }
    places = {kind: title for title, documented in _JSON.items() for kind in documented}
    for name in [name for name, kind in kinds.items() if kind in places]:
        title = places[kind := kinds.pop(name)]
        there = "" if kind.__name__ == name else f", at {kind.__name__}"
        lines.append(f"| `{name}` | [{title.partition(':')[0]}](json.md#{_anchor(title)}){there} |")
    lines.append("")
    for name, kind in kinds.items():
        lines += [f"### `{name}`", "", _paragraphs(kind), ""]
        hints = {name: getattr(said, "__forward_arg__", said) for name, said in kind.__annotations__.items()}
        if fields := [f"{field}: {said}" for field, said in hints.items()]:
            lines += [_code("\n".join(fields)), ""]
    lines += ["## Errors", ""]
    lines += [f"- `{name}`: {' '.join(_paragraphs(getattr(peerage, name)).split())}" for name in errors]
    return "\n".join(lines).rstrip() + "\n"


_PYTHON = """# Python

After this page you can play an arena and read its tables from a program or [a notebook](notebook.ipynb).
Everything needed is in the package `peerage` itself; what is not on this page may change. The page is made
from the code by `make docs`.

```python
import peerage

with peerage.open("my-arena") as arena:
    arena.run(max_matches=100)  # with a progress bar, in a script and in a notebook
    print(arena.verdict())  # who is best, or may be, and what it takes to be sure
    for row in arena.leaderboard("bt"):
        print(row.rank, row.player, row.rating, row.lower, row.upper)
    frame = arena.head_to_head().to_pandas()
```

In a notebook the arena, its tables, matches, charts and the verdict show themselves as the last line of a
cell (`pip install 'peerage[notebook]'` has what draws charts, and pandas). What models wrote is escaped there
as on every page. A run may be interrupted at any moment, by Ctrl+C or the notebook's stop button: calls in
flight return, everything is on record, and the next `run` goes on. Games, formats and providers are written
with other modules: [a game](writing-a-game.md), [a provider](adding-a-provider.md),
[ratings alone](ratings.md).
"""


_COMES_BACK = """## What comes back

What commands write as JSON is an object here, with the same fields; the page on JSON says what each means:
"""


def _anchor(title: str) -> str:
    """The place of a heading in its page's address, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _signature(name: str, member: Any) -> list[str]:
    """A call as one writes it, and what it does."""
    signature = inspect.signature(member)
    given: list[str] = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in given:
            given.append("*")
        usual = "" if one.default is one.empty else f" = {one.default!r}"
        if one.name != "self":
            given.append(f"{one.name}: {one.annotation}{usual}")
    before = "await " if inspect.iscoroutinefunction(member) else ""
    returned = {"Report": "VerifyReport"}.get(signature.return_annotation, signature.return_annotation)
    call = f"{before}{name}({', '.join(given)}) -> {returned}"
    if len(call) > 100:
        call = "\n".join([f"{before}{name}(", *[f"    {one}," for one in given], f") -> {returned}"])
    return [_code(call), "", _paragraphs(member)]


def _code(text: str) -> str:
    return f"```text\n{text}\n```"


def _paragraphs(of: Any) -> str:
    return inspect.cleandoc(of.__doc__ or "")


def json_page() -> str:
    lines = [
        "# JSON",
        "",
        "What commands write with `--format json` (`peerage rate` with `--output json`): UTF-8 whatever the "
        "locale, nothing else on standard output, numbers unrounded. Keys are only ever added. Unknown is "
        "`null`, never 0. CSV has the same keys as columns. This page is made from the code by `make docs`.",
        "",
        "```sh",
        "peerage leaderboard --format json | jq -r '.[] | [.rank, .player, .rating] | @tsv'",
        "```",
        "",
    ]
    for title, kinds in _JSON.items():
        lines += [f"## {title}", ""]
        for kind in kinds:
            lines += [kind, ""] if isinstance(kind, str) else _keys(kind)
    return "\n".join(lines).rstrip() + "\n"


_OK = "The keys below, and before them `ok`: true with exit code 0, false with exit code 1."

_JSON: dict[str, tuple[str | type, ...]] = {
    "`leaderboard`: a list, best first": (Row, Weakness),
    "`verdict`: one object": (Verdict, Chance, Example, Given),
    "`plan`: one object": (Outlook, Pair, Further),
    "`plan --matches`: one object": (Plan, PlanPart),
    "`compare`: one object; `one` and `other` are rows of `leaderboard`": (
        Comparison,
        Met,
        AccuracyDifference,
    ),
    "`compare --not-worse-by`, `compare --elo`: one object": (Gate,),
    "`simulate`: a list, for each pool and number of matches": (SimulatedRow,),
    "`leaderboard --correct`: a list, best first": (CorrectedRow,),
    "`stats`: one object (`--of` one of its lists)": (
        Stats,
        PlayerStats,
        JudgeStatistics,
        AuthorStats,
        SourceStats,
        ProbeStats,
        UnfinishedStats,
        HostedStats,
        CostStats,
        KindStats,
        TaskRow,
    ),
    "`stats --of judges`: one object (`--of measures`, `favours`, `people`, `challenges` one of its lists)": (
        JudgesReport,
        Measure,
        JudgeRow,
        Favour,
        PeopleRow,
        ChallengeSort,
    ),
    "`rejudge`: one object": (RejudgeReport, RejudgedPlayer),
    "`tournament show`: one object (`--of` one of its lists)": (
        TournamentReport,
        Place,
        Cell,
        SortRow,
        BudgetRow,
        ReasonsRow,
    ),
    "`tournament progress`: a list, best first": (ProgressRow,),
    "`match`: one object": (
        MatchView,
        SeatView,
        *get_args(Block),
        ExchangeView,
        Trace,
        AgentStep,
        ModelCall,
        Totals,
        Digests,
    ),
    "`verify`: one object": (_OK, Report, Extension, Problem),
    "`replay`: one object": (
        "The keys below, and before them `ok`: true with exit codes 0 and 3, false with exit code 1.",
        ReplayReport,
        Elsewhere,
        Difference,
    ),
    "`export`: a list of documents, one a finished match; with `jsonl` one a line": (
        "A document holds `match` (its number), `fixture`, `record`, `at_ms` (Unix milliseconds), "
        "`exchanges` and `proof`: the stored bytes, from which [anybody can check it](ledger.md#export). "
        "An exchange has `key`, `attempt`, `player`, `seat`, `role`, `max_tokens`, `temperature`, `expects`, "
        "`messages` (objects of `speaker` and `text`, as the model saw them), `worst_nano`, `reply` (null: "
        "none came) and `proof`; a program that was run has `run` in the place of what was asked, a command "
        "`command`.",
        Fixture,
        MatchRecord,
        Outcome,
    ),
    "`challenges list`: a list in the order of acceptance": (
        "`challenges show --format json` is one of them with its `history`, a list of attempts with "
        "`llm_id`, `challenge_id`, `submitted_answer` (null while sealed), `result`, `own_challenge`, "
        "`points`, `match`.",
        ChallengeRow,
        Tried,
    ),
    "`players`: a list": (PlayerRow,),
    "`players NAME`, `leaderboard --by game`: a list, overall first": (Profile,),
    "`games`: a list": (GameRow,),
    "`status`: one object": (Status, MatchNow, WaitingMatch, WorkerNow, HostRow),
    "`rate --output json`: a list, best first": (
        "Objects with `rank`, `player`, `rating`, `lower`, `upper`, `games`, with `mu` and `sigma` where the "
        "method has a scale of its own, and with `best` and `above` where the data allow: "
        "[ratings](ratings.md).",
    ),
}


def _keys(kind: type) -> Iterator[str]:
    """The meaning of a struct or dataclass and its keys with their types."""
    yield " ".join(f"**{kind.__name__}**: {kind.__doc__}".split())
    yield ""
    hints = inspect.get_annotations(kind)
    yield "```text"
    for name in hints:
        yield f"{name}: {hints[name]}"
    yield "```"
    yield ""


def commands() -> dict[str, Any]:
    """All commands by name, in the order of the help; those of a group as `group command`."""
    found: dict[str, Any] = {}
    for name, about in get_command(app).commands.items():  # type: ignore[attr-defined]
        group = getattr(about, "commands", None)
        found |= {f"{name} {inner}": one for inner, one in group.items()} if group else {name: about}
    return found


def _command(name: str, command: Any) -> Iterator[str]:
    """One command's help, without what differs from one version of typer to the next."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    yield f"## peerage {name}"
    yield ""
    yield f"`peerage {' '.join([name, *command.usage(), '[OPTIONS]'])}`"
    yield ""
    yield inspect.cleandoc(command.help)
    yield ""
    yield "| | meaning | default |"
    yield "|---|---|---|"
    for param in arguments:
        default = "**needed**" if param.required else _usual(param) or "none"
        yield f"| `{param.metavar}` | {param.help} | {default} |"
    for param in options:
        choices = ", ".join(f"`{one}`" for one in _choices(command, param))
        meaning = f"{param.help} One of {choices}." if choices else param.help
        yield f"| `{param.opts[0]}` | {meaning} | {_usual(param)} |"
    yield ""


def _choices(command: Any, param: Any) -> list[str]:
    """What an option may be, where it is one of a few words."""
    hints = get_type_hints(inspect.unwrap(command.callback))
    kinds = (hints[param.name], *get_args(hints[param.name]))
    words = [str(one) for kind in kinds if get_origin(kind) is Literal for one in get_args(kind)]
    named = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum)]
    return words + [str(one) for kind in named for one in kind]


def _usual(param: Any) -> str:
    default = param.default
    if isinstance(param.show_default, str):
        return param.show_default
    if default is None or default is False or default == "":
        return ""
    return f"`{getattr(default, 'value', default)}`"


if __name__ == "__main__":
    for name, text in pages().items():
        (HERE / name).write_text(text, "utf-8")
