"""Folders to work in: what is laid there, and what of it is kept, whatever a program left behind."""

import errno
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from peerage.sandbox.folder import File, WorkFolder, patched
from peerage.sandbox.native import places
from peerage.sandbox.native.places import PatchTooLarge, WorkPlace
from peerage.sandbox.native.repositories import folder_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders to work in need Linux")

TASK = WorkFolder.of({"src/app.py": "one\n", "tool": File("#!/bin/sh\n", executable=True), "gone": "x"})
HERE = Path("/nowhere")


@pytest.fixture
def place() -> Iterator[WorkPlace]:
    made = WorkPlace()
    yield made
    made.remove()
    assert not made.path.exists()


def test_a_patch_is_what_changed(place: WorkPlace) -> None:
    place.fill(TASK, HERE)
    assert place.patch(TASK, HERE) == {}
    (place.work / "src/app.py").write_text("two\n")
    (place.work / "src/data").write_bytes(b"\xff\0")
    (place.work / "tool").chmod(0o644)
    (place.work / "gone").unlink()
    patch = place.patch(TASK, HERE)
    assert patch == {
        "src/app.py": File("two\n"),
        "src/data": File.of(b"\xff\0"),
        "tool": File("#!/bin/sh\n"),
        "gone": None,
    }
    again = WorkPlace()
    again.fill(TASK, HERE)
    again.lay(patch)
    assert again.patch(TASK, HERE) == patch
    assert again.patch(WorkFolder.of(patched(TASK.files, patch)), HERE) == {}
    again.remove()


def test_only_files_of_its_own_are_kept(place: WorkPlace, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    place.fill(TASK, HERE)
    work = place.work
    shutil.rmtree(work / "src")
    (work / "src").symlink_to(tmp_path)
    (work / "tool").unlink()
    (work / "tool").symlink_to(secret)
    (work / "link").symlink_to(secret)
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(work / "socket"))
    if os.geteuid() == 0:
        os.mknod(work / "device", 0o20600, os.makedev(1, 3))
    for name in ("new\nline", "back\\slash", "\x1b[2J", "x" * 250 + "/" + "y" * 250, ".git/config",
                 "a/node_modules/b", "__pycache__/c", "d.pyc", os.fsdecode(b"\xff")):  # fmt: skip
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    assert place.patch(TASK, HERE) == {"src/app.py": None, "tool": None}
    place.remove()
    assert secret.read_text() == "a secret"


def test_what_cannot_be_read_is_read_and_removed_all_the_same(place: WorkPlace) -> None:
    place.fill(TASK, HERE)
    (place.work / "closed").mkdir()
    (place.work / "closed/in").write_text("found")
    (place.work / "closed/in").chmod(0)
    (place.work / "closed").chmod(0)
    assert place.patch(TASK, HERE) == {"closed/in": File("found")}
    deep = "import os\nfor _ in range(60): os.mkdir('d' * 100); os.chdir('d' * 100)\nopen('end', 'w')"
    subprocess.run([sys.executable, "-c", deep], cwd=place.work, check=True)
    assert set(place.patch(TASK, HERE)) <= {"closed/in"}
    (place.work / "closed").chmod(0)


@pytest.mark.parametrize(
    ("files", "characters", "seen"),
    [(300, 1, "; up to 279"), (1, 150_001, "; up to 0"), (3, 60_000, "; up to 2"), (1, 149_999, "$")],
)
def test_too_much_is_no_patch(place: WorkPlace, files: int, characters: int, seen: str) -> None:
    """It is not read to its end."""
    for number in range(files):
        (place.work / f"{number}").write_text("x" * characters)
    with pytest.raises(PatchTooLarge, match=f"at most 200 files, and 150,000 .* were expected{seen}"):
        place.patch(WorkFolder.of({}), HERE)


def test_files_that_cannot_be_opened_for_want_of_room_are_not_gone(
    place: WorkPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill(TASK, HERE)
    usual = os.open

    def full(name: str, *how: Any, **where: Any) -> int:
        if name == "tool":  # as where others use up what this process may open
            raise OSError(errno.EMFILE, "Too many open files")
        return usual(name, *how, **where)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OSError, match="Too many open files"):
        place.patch(TASK, HERE)


def test_what_is_laid_wins_over_whatever_is_in_its_way(place: WorkPlace, tmp_path: Path) -> None:
    place.lay({"a": File("file"), "b/c": File("deep"), "d": File("x"), "e": File("x")})
    (place.work / "d").unlink()
    (place.work / "d").symlink_to(tmp_path)
    (place.work / "e").unlink()
    (place.work / "e").symlink_to(tmp_path / "outside")
    wanted = WorkFolder.of({"a/in": "1", "b": "2", "d/in": "3", "e": "4"})
    place.fill(wanted, HERE)
    assert place.patch(wanted, HERE) == {}
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="leads out of the folder"):
        place.lay({"../x": File("x")})


def test_files_that_the_digest_does_not_mean_are_refused(place: WorkPlace) -> None:
    with pytest.raises(ValueError, match="digest"):
        place.fill(WorkFolder("f" * 64, files={"src/app.py": File("another")}), HERE)


def git(repo: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    words = ("git", *identity, "-C", str(repo), *words)
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = tmp_path_factory.mktemp("arena") / "repo"
    (repo / "src").mkdir(parents=True)
    git(repo, "init", "-q")
    (repo / "src/app.py").write_text("one\n")
    (repo / "run").write_bytes(b"\0\xff")
    (repo / "run").chmod(0o755)
    (repo / "inside").symlink_to("src/app.py")
    (repo / "outside").symlink_to("/etc/passwd")
    (repo / "folder").symlink_to("src")
    (repo / ".gitattributes").write_text("*.py filter=evil export-ignore\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "x")
    # From here on, whoever lets git obey this repository makes the file `touched`.
    touch = f"touch {repo.parent / 'touched'}"
    for name in ("filter.evil.smudge", "core.fsmonitor", "core.sshCommand", "core.pager", "alias.ls-tree"):
        git(repo, "config", name, touch)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (repo / ".git/hooks" / hook).write_text(f"#!/bin/sh\n{touch}\n")
        (repo / ".git/hooks" / hook).chmod(0o755)
    return repo


def test_a_repository_at_its_commit_is_unpacked_once_and_obeyed_never(
    place: WorkPlace, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_at("repo", repo.parent, "HEAD")
    place.fill(folder, repo.parent)
    assert sorted(path.name for path in place.work.rglob("*")) == [
        ".gitattributes", "app.py", "inside", "run", "src",
    ]  # fmt: skip
    assert not (place.work / "inside").is_symlink()
    assert (place.work / "inside").read_text() == "one\n"
    assert os.access(place.work / "run", os.X_OK)
    assert place.patch(folder, repo.parent) == {}
    (place.work / "src/app.py").write_text("two\n")
    (place.work / "run").unlink()
    assert place.patch(folder, repo.parent) == {"src/app.py": File("two\n"), "run": None}
    monkeypatch.setattr(places, "files_at", None)
    again = WorkPlace()
    again.fill(folder, repo.parent)
    assert (again.work / "src/app.py").read_text() == "one\n"
    again.remove()
    assert not (repo.parent / "touched").exists()


@pytest.mark.parametrize(
    ("where", "held"),
    [
        ("copy", ["copy", "tree"]),
        ("copy/src", ["copy", "tree"]),
        ("tree", ["copy", "tree"]),
        ("shared", ["copy", "tree", "shared"]),
        ("apart", ["copy", "tree", "apart", "git"]),
    ],
)
def test_all_folders_that_hold_a_repository_s_commits_are_hidden(
    place: WorkPlace, repo: Path, tmp_path: Path, where: str, held: list[str]
) -> None:
    copy = tmp_path / "copy"
    git(repo, "clone", "-q", str(repo), str(copy))
    git(copy, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    git(copy, "clone", "-q", "--shared", ".", str(tmp_path / "shared"))
    apart = ("--separate-git-dir", str(tmp_path / "git"))
    git(copy, "clone", "-q", "--shared", *apart, ".", str(tmp_path / "apart"))
    place.fill(folder_at(where, tmp_path, "HEAD"), tmp_path)
    hidden = json.loads(Path(place.launcher()[-1]).read_text())["hidden"]
    assert all(any(Path(tmp_path / each).is_relative_to(path) for path in hidden) for each in held)
    assert {Path(path).name for path in hidden if Path(path).parent == tmp_path} == {*held}


def test_only_some_paths_of_a_repository(place: WorkPlace, repo: Path) -> None:
    folder = folder_at("repo", repo.parent, "HEAD", ["src"])
    place.fill(folder, repo.parent)
    assert [path.name for path in place.work.rglob("*")] == ["src", "app.py"]
    with pytest.raises(ValueError, match="has no 'nothing' at commit"):
        folder_at("repo", repo.parent, "HEAD", ["nothing"])


def test_a_repository_that_is_not_the_one_that_is_meant_is_refused(place: WorkPlace, repo: Path) -> None:
    commit = git(repo, "rev-parse", "HEAD")
    for folder, why in (
        (WorkFolder("0" * 64, repo="repo", commit=commit), "have the digest"),
        (WorkFolder("1" * 64, repo="repo", commit="0" * 40), "has no commit"),
        (WorkFolder("2" * 64, repo="elsewhere", commit=commit), "has no commit"),
        (WorkFolder("3" * 64, repo="repo", commit="--output=x"), "is no commit"),
    ):
        with pytest.raises(ValueError, match=why):
            place.fill(folder, repo.parent)
    with pytest.raises(ValueError, match="has no commit 'nothing'"):
        folder_at("repo", repo.parent, "nothing")


@pytest.mark.parametrize("removed", [[], ["lock"]], ids=["at work", "as it removed them"])
def test_the_folders_of_a_process_that_was_killed_go_with_the_next_one(removed: list[str]) -> None:
    program = "import os; from peerage.sandbox.native.places import WorkPlace"
    program += "; print(WorkPlace().path.parent, flush=True)"
    killed, ended = f"{program}; os.kill(os.getpid(), 9)", program
    first = Path(
        subprocess.run([sys.executable, "-c", killed], capture_output=True, text=True).stdout.strip()
    )
    assert first.is_dir()
    assert first.stat().st_mode & 0o777 == 0o700
    for name in removed:
        (first / name).unlink()
    second = Path(
        subprocess.run([sys.executable, "-c", ended], capture_output=True, text=True).stdout.strip()
    )
    assert not first.exists()
    assert not second.exists()


def test_folders_of_other_users_are_left_alone(tmp_path: Path) -> None:
    trap = tmp_path / "peerage-work-theirs"
    trap.mkdir()
    os.mkfifo(trap / "lock")
    program = (
        "import os; theirs = os.geteuid(); os.geteuid = lambda: theirs + 1\n"
        "from peerage.sandbox.native.places import WorkPlace; WorkPlace()"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=20)
    assert [path.name for path in tmp_path.iterdir()] == [trap.name]


def test_whoever_tidies_the_temporary_folder_finds_it_locked(place: WorkPlace) -> None:
    for held in (place.path.parent, place.path.parent / "lock"):
        handle = os.open(held, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
