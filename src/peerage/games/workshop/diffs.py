"""Changes that contestants made: what counts of them, and as diffs for judges and pages. Pure.

Judges read diffs blind: without files of agents' own, lines that sign a work, names of players and paths of
a machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import translate
from itertools import accumulate
from pathlib import PurePosixPath
from shlex import quote

from peerage.game import Steps
from peerage.game.work import ShellCommand
from peerage.games.workshop.tasks import WorkTask, is_test
from peerage.sandbox.folder import File, Patch


def _any_of(names: str) -> re.Pattern[str]:
    """Return what matches these names, each a pattern as those of a shell."""
    return re.compile("|".join(map(translate, names.split())))


_STEERING = _any_of("""
    conftest.py pytest.ini .pytest.ini tox.ini setup.cfg noxfile.py pyproject.toml pytest.toml .pytest.toml
    .coveragerc sitecustomize.py usercustomize.py *.pth pytest.py pytest _pytest* pluggy* unittest.py unittest
    package.json .npmrc jest.config.* vitest.config.* vite.config.* karma.conf.* playwright.config.* .mocharc*
    Makefile GNUmakefile makefile [Jj]ustfile Rakefile .rspec phpunit.xml* Cargo.toml .cargo pom.xml
    build.gradle* settings.gradle* *.dist-info *.egg-info
""")  # pytest finds its plugins by the last two
"""Names of files that say how tests are run: they are as the task has them, whatever a patch says."""
_AGENTS = _any_of("""
    CLAUDE*.md AGENTS*.md AGENT.md GEMINI.md QWEN.md CRUSH.md copilot-instructions.md .goose* .crush*
    .claude* .cursor* .codex* .gemini* .opencode* opencode.json* .aider* .qwen* .windsurf* .clinerules*
""")
_SIGNED = re.compile(
    r"(^[^\w\n]*|[#*/;-]\s*)(?:(?:generated|created|written|made|authored|implemented)[ -](?:with|by|using)\b"
    r"|co-authored-by|signed-off-by|\U0001f916)(?:\]\(\S*\)|[^;\"'=*{}()\n])*",
    re.IGNORECASE | re.MULTILINE,
)
_MACHINE = re.compile(
    r"(?<![\w.])(?:/(?:tmp|home|root|Users|private|var/(?:folders|tmp))|[A-Za-z]:\\Users)[/\\][^\s'\"`)>,;:]+"
)
_WORKED_IN = re.compile(r"(?:[A-Za-z]:)?(?:[/\\][^\s'\"`(/\\]{1,80}){0,12}[/\\]peerage-work-[^\s'\"`)>,;:]+")
_AROUND, _MOST_COMPARED = 3, 1_000_000
"""Lines around a change, and pairs of lines that are compared at most."""
_SHORTEST_NAME = 3
_PROSE, _TEXT = (".md", ".rst", ".txt"), {*"'\""}
_MOST_BEFORE = 1_000_000
_MOST_WORDS = 100_000
"""Bytes of the paths in a command: a word of one has 131,072 in Linux."""
_BETWEEN = "\x1e" * 4  # which hardly stands in bytes of any file


def _named(path: str, names: re.Pattern[str]) -> bool:
    return any(map(names.match, path.split("/")))


def steers(path: str) -> bool:
    """Tell a file that says how tests are run."""
    return _named(path, _STEERING)


def _folders(path: str) -> list[str]:
    return [path[:at] for at, letter in enumerate(path) if letter == "/"]


def counting(patch: Patch, task: WorkTask) -> tuple[dict[str, File | None], list[str]]:
    """Return what counts of a patch, and the paths that it edits of hidden tests and of what steers them,
    which are as the task has them."""
    hidden = {*task.hidden}
    above = {folder for path in hidden for folder in _folders(path)}
    edited = [
        path for path in sorted(patch) if path in above or hidden & {path, *_folders(path)} or steers(path)
    ]
    same = {} if task.folder.repo else {path: task.folder.files.get(path) == patch[path] for path in patch}
    left = [path for path in sorted(patch) if path not in edited]
    return {path: patch[path] for path in left if not same.get(path)}, edited


def words_of(paths: Sequence[str]) -> str:
    """Return paths as words of a command, so many of the first as it has room for."""
    words = [quote(path) for path in paths]
    used = accumulate([len(word.encode()) + 1 for word in words])
    return " ".join([word for word, bytes in zip(words, used, strict=True) if bytes <= _MOST_WORDS])


def originals(task: WorkTask, paths: Iterable[str]) -> Steps[Mapping[str, str]]:
    """Return the texts that files have in the task's folder, by path; those of a repository are printed
    there. A file that it lacks has none, or an empty one."""
    if not task.folder.repo:
        return {path: _text(file) for path, file in task.folder.files.items()}
    if not (named := words_of(sorted(paths))):
        return {}
    between = r"\036" * len(_BETWEEN)
    show = f'printf "{between}%s{between}" "$path"; cat -- "./$path" 2>/dev/null'
    show = f"for path in {named}; do {show}; done"
    ran = yield ShellCommand("before", task.folder, show, output=_MOST_BEFORE)
    _, *parts = ran.value.output.split(_BETWEEN)
    return dict(zip(parts[::2], parts[1::2], strict=False))


def diffs(patch: Patch, before: Mapping[str, str]) -> dict[str, str]:
    """Return a unified diff for each file of a patch, without paths of folders that were worked in."""
    made = {path: "\n".join(_diff(path, before.get(path, ""), file)) for path, file in patch.items()}
    return {path: _WORKED_IN.sub("PATH", text) for path, text in made.items()}


def named_tests(diffs: Mapping[str, str], task: WorkTask) -> list[str]:
    """Return the hidden tests that texts in the code of these diffs name, and the variable by which pytest
    names the one that it runs."""
    names = {PurePosixPath(path).stem for path in task.runnable if is_test(path)} | {"PYTEST_CURRENT_TEST"}
    code = [diff for path, diff in diffs.items() if not is_test(path) and not path.endswith(_PROSE)]
    added = [line for diff in code for line in diff.splitlines() if line.startswith("+") and _TEXT & {*line}]
    return sorted(names & {word for line in added for word in re.findall(r"\w+", line)})


def _diff(path: str, before: str, file: File | None) -> Iterator[str]:
    old, new = before.splitlines(), [] if file is None else _text(file).splitlines()
    if "\ufffd" in before and (file is None or _is_binary(file)):
        old = ["(no text)"]
    yield f"diff {path}{' (removed)' if file is None else ''}"
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    begin, end = max(0, first - _AROUND), max(0, last - _AROUND)
    a, b = old[begin : len(old) - end], new[begin : len(new) - end]
    if len(a) * len(b) > _MOST_COMPARED:  # what somebody wrote shall not hold up a run
        groups = [[("replace", 0, len(a), 0, len(b))]]
    else:
        groups = [*SequenceMatcher(None, a, b).get_grouped_opcodes(_AROUND)]
    for group in groups:
        (_, i, _, k, _), (_, _, j, _, n) = group[0], group[-1]
        yield f"@@ -{begin + i + 1},{j - i} +{begin + k + 1},{n - k} @@"
        for change, i, j, k, n in group:
            if change == "equal":
                yield from [f" {line}" for line in a[i:j]]
            else:
                yield from [*[f"-{line}" for line in a[i:j]], *[f"+{line}" for line in b[k:n]]]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (own, their) in pairs if own != their), min(len(one), len(other)))


def _text(file: File) -> str:
    whole = file.content
    return f"({len(whole):,} bytes, no text)" if _is_binary(file) else whole.decode("utf-8", "replace")


def _is_binary(file: File) -> bool:
    return bool(file.base64) and b"\0" in file.content  # other bytes could hide code from judges


def blind(by_path: Mapping[str, str], names: Iterable[str]) -> str:
    """Return diffs as judges read them, where players have these names; empty where nothing is left. Of
    agents' own files it says how long they are: code could lie there."""
    kept = {path: not _named(path, _AGENTS) for path in by_path}
    if not any(kept.values()):
        return ""
    left_out = "diff (a file that is an agent's own: {:,} characters, left out)"
    texts = [diff if kept[path] else left_out.format(len(diff)) for path, diff in by_path.items()]
    text = _MACHINE.sub("PATH", _SIGNED.sub(r"\1", "\n".join(texts)))
    for name in names:
        if len(letters := re.findall(r"[^\W_]", name)) >= _SHORTEST_NAME:
            spaced = r"[^\w\n]?_?".join(letters)
            text = re.sub(rf"(?<![^\W_]){spaced}(?![^\W_])", "NAME", text, flags=re.IGNORECASE)
    return text
