"""The gate of `peerage compare`: exit codes, JUnit, GitHub; and what hostile names come to in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from tests.views.decision.test_gate import always, arena_of, never
from typer.testing import CliRunner, Result

from peerage.cli.main import app

HOSTILE = "<b>|[x](https://evil.example)`\x1b]0;&amp;\n::error::*y*"


def run(folder: Path, *options: str, **env: str) -> Result:
    arguments = ["compare", "new", "old", "--dir", str(folder), *options]
    return CliRunner().invoke(app, arguments, env=env)


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two who are always right, on tasks of two hostile categories."""
    return arena_of(
        tmp_path_factory.mktemp("alike"),
        {"new": always, "old": always},
        60,
        category=lambda task: HOSTILE if task % 2 else "plain",
    )


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return arena_of(tmp_path_factory.mktemp("worse"), {"new": never, "old": always}, 20)


def test_the_exit_code_is_the_answer(alike: Path, worse: Path) -> None:
    shown = run(alike, "--not-worse-by", "10%", "--these-tasks")
    assert (shown.exit_code, shown.stdout.split(":")[0]) == (0, "Shown")
    proven = run(worse, "--elo", "30")
    assert (proven.exit_code, proven.stdout.split(":")[0]) == (1, "Worse")
    neither = run(alike, "--not-worse-by", "3%")
    assert (neither.exit_code, neither.stdout.split(" whether")[0]) == (3, "Cannot tell yet")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--not-worse-by", "3"], "such as 3%"),
        (["--elo", "-3"], "expected at least 1"),
        (["--elo", "nan"], "expected at most 1000"),
        (["--of", "wins"], "--of is of a gate: add its margin, such as --not-worse-by 3%"),
        (["--these-tasks"], "--these-tasks is of a gate"),
        (["--junit", "gate.xml"], "--junit is of a gate"),
        (["--github"], "--github is of a gate"),
        (["--by", "topic"], "--by is of a gate"),
        (["--force"], "--force is of a gate"),
        (["--elo", "30", "--track", "bt"], "leave --track out"),
        (["--elo", "30", "--topic", "plane"], "did you mean 'plain'?"),
        (["--elo", "30", "--junit", "nowhere/gate.xml"], "nowhere/gate.xml: No such file or directory"),
    ],
)
def test_a_mistake_leaves_with_2_and_says_the_remedy(alike: Path, options: list[str], message: str) -> None:
    found = run(alike, *options)
    assert found.exit_code == 2
    assert message in " ".join(found.stderr.split())


def test_what_keeps_a_gate_from_an_answer_is_never_worse(alike: Path, tmp_path: Path) -> None:
    assert run(tmp_path, "--elo", "30").exit_code == 2, "there is no arena"
    (tmp_path / "arena.yaml").write_bytes((alike / "arena.yaml").read_bytes())
    assert run(tmp_path, "--elo", "30").exit_code == 2, "nothing was played"
    (tmp_path / "arena.db").write_bytes(b"SQLite format 3\0" + bytes(4096))
    assert run(tmp_path, "--elo", "30").exit_code == 2, "the ledger cannot be read"
    assert run(alike, "--elo", "30", "--github", GITHUB_STEP_SUMMARY="").exit_code == 2
    assert run(alike, "--elo", "30", "--github", GITHUB_STEP_SUMMARY=str(tmp_path)).exit_code == 2


def test_json_holds_the_answer(worse: Path) -> None:
    found = run(worse, "--not-worse-by", "3%", "--format", "json")
    answer = json.loads(found.stdout)
    assert (answer["decision"], answer["exit_code"], answer["margin"]) == ("worse", found.exit_code, "3%")
    assert answer["accuracies"] == [0.0, 1.0]


def test_junit_has_a_case_for_the_gate_and_each_topic(alike: Path, worse: Path, tmp_path: Path) -> None:
    file = tmp_path / "gate.xml"
    options = ("--not-worse-by", "20%", "--these-tasks", "--by", "topic", "--junit", str(file))
    run(alike, *options)
    suites = ElementTree.parse(file).getroot()
    suite = suites.find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert [suites.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["3", "0", "0", "0"]
    assert cases[0].get("name") == "new is not worse than old by more than 20% of accuracy"
    hostile = next(case for case in cases if "evil" in str(case.get("name")))
    assert "<b>|[x](https://evil.example)" in str(hostile.get("name"))
    assert "\x1b" not in str(hostile.get("name"))
    assert {case.get("classname") for case in cases} == {"peerage.compare"}
    run(alike, "--not-worse-by", "3%", "--junit", str(file))
    assert ElementTree.parse(file).find(".//testcase/skipped") is not None, "an earlier file is replaced"
    run(worse, "--not-worse-by", "3%", "--junit", str(file))
    failure = ElementTree.parse(file).find(".//testcase/failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("Worse: new is worse than old")
    assert str(failure.text).count("\n") >= 2


def test_a_file_of_somebody_else_stays(worse: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.xml"
    file.write_text("<testsuites/>")
    found = run(worse, "--elo", "30", "--junit", str(file))
    assert found.exit_code == 2
    assert "--force" in found.stderr
    assert file.read_text() == "<testsuites/>"
    assert run(worse, "--elo", "30", "--junit", str(file), "--force").exit_code == 1


def test_github_gets_a_summary_and_annotations(alike: Path, worse: Path, tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("# Before\n")
    for folder, limit, level in ((alike, "40%", "notice"), (alike, "3%", "warning"), (worse, "3%", "error")):
        found = run(
            folder, "--not-worse-by", limit, "--github", "--format", "json", GITHUB_STEP_SUMMARY=str(file)
        )
        json.loads(found.stdout)
        assert re.match(rf"::{level} title=peerage compare::(Shown|Cannot tell yet|Worse)\b", found.stderr)
        assert f"{limit}25 of accuracy" in found.stderr, "a percent sign is escaped"
        assert len(found.stderr.splitlines()) == 1
    text = file.read_text()
    assert text.startswith("# Before\n")
    assert text.count("| everything |") == 3


def test_a_hostile_topic_is_text_in_a_summary(alike: Path, tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    options = ("--not-worse-by", "20%", "--these-tasks", "--by", "topic", "--github")
    run(alike, *options, GITHUB_STEP_SUMMARY=str(file))
    text = file.read_text()
    html = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert "evil" in html
    for tag in ("<b>", "<a ", "<em>", "<code>"):
        assert tag not in html
    assert html.count("<tr>") == 4
    assert len(re.findall("<td", html)) == 3 * len(re.findall("<th", html)) - 3 * html.count("<thead")
    assert "https://" not in text, "GitHub makes links of bare addresses"
