"""Test cases of promptfoo as tasks: `vars` fill the prompt, `assert` are checks. Pure.

Assertions that run code or ask a model are left out by name, but `llm-rubric`, which is a rubric for judges.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from peerage.games.tasks.seen import MEDIA
from peerage.games.tasks.task import Taker, cell_text, filled, places

TESTS, VARS, ASSERT = "tests", "vars", "assert"
LEFT_OUT = "left_out"
"""Column of the names of assertions that are not made here."""
_PLAIN: Mapping[str, dict[str, Any]] = {
    "equals": {"type": "exact", "strict": True},
    "contains": {"type": "contains", "strict": True},
    "icontains": {"type": "contains"},
    "contains-any": {"type": "contains", "strict": True},
    "icontains-any": {"type": "contains"},
    "contains-all": {"type": "contains", "strict": True, "every": True},
    "icontains-all": {"type": "contains", "every": True},
    "regex": {"type": "regex"},
    "starts-with": {"type": "regex"},
    "is-json": {"type": "json"},
    "contains-json": {"type": "json"},
}
"""Assertions that are made here, by promptfoo's names, as mappings of a check."""
_LOGIC = re.compile(r"\{%|\{\{[^{}]*[|(\[][^{}]*\}\}")


def is_config(record: Any) -> bool:
    """Return whether a value is a configuration of promptfoo, which lists `tests`."""
    return isinstance(record, Mapping) and isinstance(record.get(TESTS), list)


def is_test(record: Any) -> bool:
    """Return whether a value is a test case of promptfoo."""
    return isinstance(record, Mapping) and (ASSERT in record or isinstance(record.get(VARS), Mapping))


def template_of(config: Mapping[str, Any]) -> str:
    """Return the one prompt of a configuration; empty where it has none. Raises ValueError, with the remedy,
    for several, and for one that is not here as a text."""
    stated = config.get("prompts")
    prompts = [stated] if isinstance(stated, str) else list(stated or ())
    texts = [of.get("raw", of.get("id", "")) if isinstance(of, Mapping) else of for of in prompts]
    if len(texts) > 1:
        raise ValueError(
            f"found {len(texts)} `prompts`; leave them out, and make each the `template` of a player of its "
            "own: {model: …, name: v2, template: {file: v2.txt}}"
        )
    if not texts:
        return ""
    [text] = texts
    if not isinstance(text, str) or text.startswith(("file://", "exec:", "langfuse:", "portkey:")):
        raise ValueError(
            f"the prompt is {text!r:.80}; name it as `tasks: {{file: …, template: {{file: PATH}}}}`"
        )
    return text


def row_of(
    test: Mapping[str, Any], usual: Mapping[str, Any], template: str, problem: Taker
) -> dict[str, Any]:
    """Return the columns of a task that a test case comes to; `usual` is its `defaultTest`."""
    variables = {**_mapping(usual.get(VARS)), **_mapping(test.get(VARS))}
    for name, value in variables.items():
        if isinstance(value, list):
            problem(name, "is a list, of which promptfoo makes a test each; write a test case for each")
        elif isinstance(value, str) and value.startswith("file://") and name in MEDIA:
            variables[name] = value.removeprefix("file://")
        elif isinstance(value, str) and value.startswith("file://"):
            problem(
                name,
                f"names the file {value[7:60]!r}; put its text here, or call it `image` or `audio`",
            )
    if _LOGIC.search(template):
        problem("prompt", "the prompt holds more than {{name}}, which alone is filled; write it out")
    asserted = [*_list(usual.get(ASSERT)), *_list(test.get(ASSERT))]
    checks, rubrics, left = list[dict[str, Any]](), list[str](), list[str]()
    for assertion in asserted:
        kind = str(_mapping(assertion).get("type", ""))
        if kind == "llm-rubric":
            rubrics.append(_filled(assertion.get("value"), variables, problem))
        elif check := _check(_mapping(assertion), kind, variables, problem):
            checks.append(check)
        else:
            left.append(kind or repr(assertion)[:40])
    wanted = {*places(template), *MEDIA} if template else {"prompt", *MEDIA}
    row = {name: value for name, value in variables.items() if name in wanted}
    if checks:
        row["check"] = checks
    if equal := next((check["expected"] for check in checks if check["type"] == "exact"), None):
        row["expected"] = equal
    if rubrics:
        row["rubric"] = "\n".join(rubrics)
    if left:
        row[LEFT_OUT] = left
    return row


def _check(
    assertion: Mapping[str, Any], stated: str, variables: Mapping[str, Any], problem: Taker
) -> dict[str, Any] | None:
    """The check of an assertion; None where it is none that is made here."""
    negated = stated.startswith("not-")
    kind = stated.removeprefix("not-")
    if kind not in _PLAIN:
        return None
    value = assertion.get("value")
    if kind.endswith(("-any", "-all")) and isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    value = [_filled(part, variables, problem) for part in value] if isinstance(value, list) else value
    value = _filled(value, variables, problem) if isinstance(value, str) else value
    check: dict[str, Any] = {**_PLAIN[kind], "expected": value}
    if kind == "starts-with":
        check["expected"] = f"^{re.escape(str(value))}"
    elif kind.endswith("-json"):
        check["expected"] = None
        if value:
            check["schema"] = value
    elif kind == "equals" and not isinstance(value, str):
        check["type"] = "json"
    elif not isinstance(value, list):
        check["expected"] = value if isinstance(value, str) else str(value)
    if negated:
        check["negated"] = True
    if isinstance(weight := assertion.get("weight"), int | float) and weight > 0:
        check["weight"] = float(weight)
    return check


def _filled(text: Any, variables: Mapping[str, Any], problem: Taker) -> str:
    texts = {name: cell_text(value) for name, value in variables.items()}
    return filled(str(text), texts, problem, "the assertion") if places(str(text)) else str(text)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
