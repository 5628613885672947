"""What commands write replaces nothing but what Peerage wrote, and stays in the folder that was named."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner, Result

import peerage
from peerage.cli.main import app
from peerage.site.export.build import FILES as LISTED
from peerage.values import outputs
from peerage.values.outputs import REPORT, Folder, OutputRefused, ProtectedFiles, write

cli = CliRunner()
SOURCE = Path(peerage.__file__).parent

FILES = {
    "report": ("report", "{out}"),
    "plot": ("tournament", "plot", "{out}"),
    "page": ("tournament", "page", "{out}"),
    "redact": ("challenges", "redact", "{out}"),
}
"""The commands that write one file."""
FOLDERS = {
    "build": ("site", "build", "{out}"),
    "publish": ("site", "publish", "{out}"),
    "export": ("export", "--format", "valyrian", "--to", "{out}"),
    "init": ("site", "init", "{out}"),
}
"""The commands that fill a folder."""
FIRST = {"build": "index.html", "publish": "ledger.json", "export": "games/game_000001.json"}
FIRST["init"] = ".github/workflows/pages.yml"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rules = {"preset": "development", "questions": 2, "quality": "none", "answer_budgets": [20, 100]}
    made = write_arena(tmp_path_factory.mktemp("arena"), 4, game="last-arena", rules=rules)
    play(made, 2)
    return made


@pytest.fixture
def arena(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A. Person")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "person@example.org")
    made = Path(shutil.copytree(played, tmp_path / "arena"))
    (made / ".env").write_text("OPENAI_API_KEY=secret\n")
    (made / "agent.py").write_text("print('hello')\n")
    text = (made / "arena.yaml").read_text()
    (made / "arena.yaml").write_text(f"{text}\nname: agent.py\n")
    return made


def run(words: tuple[str, ...], out: Path | str, arena: Path, *more: str) -> Result:
    return cli.invoke(app, [*[word.format(out=out) for word in words], "--dir", str(arena), *more])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for what SQLite and locks leave beside a ledger that is read."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and not path.name.endswith((".lock", "-shm", "-wal"))
    }


def victims(arena: Path, elsewhere: Path) -> Iterator[tuple[str, bool]]:
    """Paths that no output may come to stand at, and whether --force changes that."""
    other = Path(shutil.copytree(arena, elsewhere / "other"))
    thesis = elsewhere / "thesis.html"
    thesis.write_text("years of work")
    os.link(arena / "arena.db", elsewhere / "hard.html")
    os.link(arena / "agent.py", elsewhere / "agent.html")
    (elsewhere / "soft.html").symlink_to(arena / "arena.db")
    (elsewhere / "dangling.html").symlink_to(elsewhere / "nowhere.html")
    os.mkfifo(elsewhere / "pipe.html")
    yield str(thesis), True
    for path in (
        arena / "arena.db",
        f"{arena}/../{arena.name}/./arena.db",
        arena / "arena.db-wal",
        arena / "arena.db-journal",
        arena / "ARENA.DB-SHM",
        arena / "arena.db.lock",
        arena / "arena.votes.db",
        arena / "arena.votes.db-wal",
        arena / "arena.votes.key",
        arena / "arena.votes.key",
        arena / "arena.yaml",
        arena / ".env",
        arena / "agent.py",
        other / "arena.db",
        other / "arena.db-wal",
        other / "arena.yaml",
        elsewhere / "new" / ".." / "arena.yaml",
        elsewhere / "hard.html",
        elsewhere / "agent.html",
        elsewhere / "soft.html",
        elsewhere / "dangling.html",
        elsewhere / "pipe.html",
        elsewhere / "other",
    ):
        yield str(path), False


@pytest.mark.parametrize("command", FILES)
def test_no_file_of_an_arena_and_no_strangers_file_is_replaced(
    arena: Path, tmp_path: Path, command: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path, force in list(victims(arena, elsewhere)):
        before = contents(tmp_path)
        for more in ([], [] if force else ["--force"]):
            said = run(FILES[command], path, arena, *more)
            assert said.exit_code == 2, (path, more, said.output)
            assert said.stderr.startswith("peerage: "), path
            assert contents(tmp_path) == before, (path, more)
    assert not (elsewhere / "nowhere.html").exists()
    said = run(FILES[command], elsewhere / "thesis.html", arena, "--force")
    assert said.exit_code == 0, said.output
    assert (elsewhere / "thesis.html").read_bytes() != b"years of work"


@pytest.mark.parametrize("command", ["report", "plot", "page"])
def test_an_earlier_output_of_the_same_kind_is_replaced(arena: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    assert run(FILES[command], out, arena).exit_code == 0
    whole = out.read_bytes()
    out.write_bytes(whole[:-100])
    out.chmod(0o640)
    assert run(FILES[command], out, arena).exit_code == 0
    assert out.read_bytes() == whole
    assert out.stat().st_mode & 0o777 == 0o640
    for other in {"report", "plot", "page"} - {command}:
        assert run(FILES[other], out, arena).exit_code == 2
    assert out.read_bytes() == whole


@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_is_filled_and_filled_again(arena: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        said = run(FOLDERS[command], out, arena) if command != "init" else site_init(out)
        assert said.exit_code == 0, said.output
        assert (out / FIRST[command]).is_file()
    assert not list(out.rglob("*.part"))


def site_init(out: Path, *more: str) -> Result:
    return cli.invoke(app, ["site", "init", str(out), *more])


@pytest.mark.parametrize("command", FOLDERS)
def test_in_a_folder_nothing_of_a_stranger_is_replaced(arena: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if command == "publish":
        subprocess.run(["git", "init", "--quiet", str(out)], check=True)
    mine = out / {"publish": "arena.yaml"}.get(command, FIRST[command])
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    before = contents(out)
    said = run(FOLDERS[command], out, arena) if command != "init" else site_init(out)
    assert said.exit_code == 2, said.output
    assert "--force" in said.stderr
    assert contents(out) == before
    said = run(FOLDERS[command], out, arena, "--force") if command != "init" else site_init(out, "--force")
    assert said.exit_code == 0, said.output
    assert mine.read_text("utf-8") != "mine"


@pytest.mark.parametrize("command", FOLDERS)
@pytest.mark.parametrize("what", ["file", "folder"])
def test_no_write_leaves_the_folder_through_a_link(
    arena: Path, tmp_path: Path, command: str, what: str
) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    out.mkdir()
    if command == "build":
        (out / LISTED).parent.mkdir()
    if command == "publish":
        subprocess.run(["git", "init", "--quiet", str(out)], check=True)
    first = out / FIRST[command]
    if what == "file":
        first.parent.mkdir(parents=True, exist_ok=True)
        (outside / "victim").write_text("precious")
        first.symlink_to(outside / "victim")
    else:
        inside = {"build": "match", "publish": "matches", "export": "games", "init": ".github"}[command]
        (out / inside).symlink_to(outside)
    before = contents(outside)
    for more in ([], ["--force"]):
        said = run(FOLDERS[command], out, arena, *more) if command != "init" else site_init(out, *more)
        assert said.exit_code == 2, said.output
        assert "is a link" in said.stderr
        assert contents(outside) == before
        assert [*outside.iterdir()] == [outside / name for name in before]


@pytest.mark.parametrize("command", ["build", "publish", "export"])
def test_an_arenas_own_folder_is_no_place_for_pages_of_it(arena: Path, command: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(arena)], check=True)
    (arena / "leaderboard.json").write_text("mine")
    before = {name: body for name, body in contents(arena).items() if not name.startswith(".git/")}
    said = run(FOLDERS[command], arena, arena)
    assert said.exit_code == 2, said.output
    if command == "publish":
        assert run(FOLDERS[command], arena, arena, "--force").exit_code == 2
    assert {name: body for name, body in contents(arena).items() if name in before}.items() >= {
        name: before[name] for name in ("arena.db", "arena.yaml", ".env", "leaderboard.json")
    }.items() or command == "publish"
    assert (arena / "arena.yaml").read_bytes() == before["arena.yaml"]


def test_new_arenas_are_written_over_nothing(tmp_path: Path, played: Path) -> None:
    victim, results = tmp_path / "victim", tmp_path / "results.csv"
    results.write_text("model_a,model_b,winner\nx,y,model_a\n")
    for words in (
        ("demo",),
        ("init",),
        ("init", "--force"),
        ("rejudge", "--judges", "house:0.5", "--to", str(tmp_path)),
        ("import", str(results)),
    ):
        (tmp_path / "arena.yaml").unlink(missing_ok=True)
        (tmp_path / "arena.yaml").symlink_to(victim)  # leads nowhere yet
        folder = played if words[0] == "rejudge" else tmp_path
        said = cli.invoke(app, [*words, "--dir", str(folder)])
        assert said.exit_code == 2, (words, said.output)
        assert not victim.exists(), words


def test_what_fails_on_the_way_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    write(file, REPORT.mark + b"first", REPORT)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(file, REPORT.mark + b"second", REPORT)
    assert [*tmp_path.iterdir()] == [file]
    assert file.read_bytes() == REPORT.mark + b"first"


@pytest.mark.parametrize("name", ["../up", "a/../../up", "/etc/passwd", "a//b", "", ".", "a/.", "..\\up"])
def test_no_name_leads_out_of_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputRefused, match="outside"):
        Folder(tmp_path).place(name)


def test_a_draft_that_was_left_is_tidied_up_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a" / ".peerage-0123456789ab.part").mkdir(parents=True)
    (tmp_path / "a" / ".peerage-mine.part").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    Folder(tmp_path, ProtectedFiles()).tidy()
    assert [path.name for path in (tmp_path / "a").iterdir()] == [".peerage-mine.part"]


WRITES = {"write_text", "write_bytes", "rename", "symlink_to", "hardlink_to", "mkstemp", "NamedTemporaryFile"}
OPENS = {"open", "fdopen"}
WITHIN = {
    "cli/main.py": "the traceback of an internal error, in a file that nobody can foresee",
    "cli/shared/streams.py": "the null device",
    "engine/run/left_up.py": "what a host says, in its log",
    "players/agents/acp.py": "files of an agent, in a home of its own that is removed",
    "players/picture_probe.py": "a sound in memory",
    "players/hosted/host_guard.py": "the same, and the record of a host, by a guard without our code",
    "sandbox/worker.py": "a file in memory that becomes stdin",
    "sandbox/native/locked.py": "what /proc is told of a program in a jail",
    "sandbox/native/namespaces.py": "the same, and places to mount at in a view that is the jail's alone",
    "sandbox/native/places.py": "private folders to work in, which are removed",
    "site/people/private_key.py": "a key, made only where there is none",
    "sandbox/image.py": "a cache of the sandbox",
    "ledger/check/checkpoints.py": "a key, made only where there is none, and a draft of `replacing`",
    "ledger/stores/sqlite.py": "the draft that `replacing` gives",
    "site/pages/downloads.py": "the draft that `replacing` gives",
    "site/rendering.py": "the same",
    "values/outputs.py": "here",
    "values/parallel.py": "a pipe to the process that asked",
}
"""The modules that write files in another way, and what."""


def test_no_module_writes_a_file_in_a_way_of_its_own() -> None:
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [
                one.value
                for one in (*node.args, *[word.value for word in node.keywords])
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) <= 3
            ]
            if name in WRITES or (name in OPENS and any({*mode} & {*"wax+"} for mode in modes)):
                found.add(path.relative_to(SOURCE).as_posix())
    assert found <= set(WITHIN), f"write through peerage.values.outputs: {sorted(found - set(WITHIN))}"
