"""A program that cannot read the arena's ledger, whatever it tries; and can do the rest."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from peerage.sandbox.jail import Jail
from peerage.sandbox.native.confined import available, launcher, readable

pytestmark = pytest.mark.skipif(not available(), reason="this system has no Landlock")

SITE = sysconfig.get_paths()["purelib"]
SECRET = "the secret of the arena"

ATTACKS = {
    "by its name": "open('arena.db').read()",
    "by its whole path": "open(FOLDER + '/arena.db').read()",
    "by another spelling": "open('./x/../arena.db').read()",
    "through a symbolic link": "os.symlink('arena.db', 'kept/a') or open('kept/a').read()",
    "through a link to the folder": "os.symlink(FOLDER, 'kept/f') or open('kept/f/arena.db').read()",
    "through a hard link": "os.link('arena.db', 'b') or open('b').read()",
    "through a hard link where it may read": "os.link('arena.db', 'kept/b') or open('kept/b').read()",
    "renamed": "os.rename('arena.db', 'c') or open('c').read()",
    "moved where it may read": "os.rename('arena.db', 'kept/c') or open('kept/c').read()",
    "copied": "__import__('shutil').copy('arena.db', 'kept/d') and open('kept/d').read()",
    "by a child": "subprocess.run(['cat', FOLDER + '/arena.db'], capture_output=True, text=True).stdout",
    "by a descriptor of its parent": "''.join(open(f).read() for f in glob.glob(f'/proc/{PARENT}/fd/*'))",
    "under its parent's root": "open(f'/proc/{PARENT}/root{FOLDER}/arena.db').read()",
    "mapped": "mmap.mmap(os.open('arena.db', os.O_RDONLY), 0, access=mmap.ACCESS_READ)[:].decode()",
    "mounted elsewhere": "os.system('mount --bind . x') or open('x/arena.db').read()",
}


def held(folder: Path, program: str, **env: str) -> subprocess.CompletedProcess[str]:
    hidden = json.dumps([str(folder / "arena.db"), str(folder / "arena.db-wal")])
    prelude = f"import glob, mmap, os, subprocess; FOLDER = {str(folder)!r}; PARENT = {os.getpid()}\n"
    return subprocess.run(
        [
            *launcher("native.confined", "-P"),
            str(os.getpid()),
            hidden,
            json.dumps([str(folder)]),
            json.dumps([str(folder / "kept")]),
            "--",
            sys.executable,
            "-c",
            prelude + program,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arena.db").write_text(SECRET)
    (tmp_path / "data.txt").write_text("open to all")
    (tmp_path / "x").mkdir()
    (tmp_path / "kept").mkdir()
    return tmp_path


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_way_leads_to_what_is_hidden(folder: Path, attack: str) -> None:
    with (folder / "arena.db").open() as _:  # the runner holds it open
        found = held(folder, f"print({ATTACKS[attack]})")
    assert SECRET not in found.stdout
    assert SECRET not in found.stderr
    assert (folder / "arena.db").read_text() == SECRET


def test_a_name_that_it_was_given_before_does_not_open_it(folder: Path) -> None:
    os.link(folder / "arena.db", folder / "b")
    (folder / "s").symlink_to("arena.db")
    for name in ("b", "s"):
        assert SECRET not in held(folder, f"print(open({name!r}).read())").stdout


CHANGES = {
    "the ledger written over": "open('arena.db', 'r+').write('x')",
    "the ledger emptied": "os.truncate('arena.db', 0)",
    "the ledger removed": "os.remove('arena.db')",
    "a setting": "open('data.txt', 'a').write('x')",
    "a new file beside the ledger": "open('.env', 'w').write('OPENAI_BASE_URL=x')",
    "a new folder": "os.mkdir('new')",
    "a link": "os.symlink('data.txt', 'link')",
    "a pipe": "os.mkfifo('pipe')",
    "something in a folder of the arena": "open('x/planted', 'w')",
    "the folder above": "open('../planted', 'w')",
    "a module that the next run would import": f"open({SITE!r} + '/planted.pth', 'w')",
    "a program on PATH": "open(os.path.dirname(shutil.which('ls')) + '/planted', 'w')",
    "what a shell starts with": "open(os.path.expanduser('~/.bashrc'), 'a')",
    "a process of others": "os.kill(PARENT, 0)",
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_changes_nothing_that_others_run_or_rely_on(folder: Path, change: str) -> None:
    if change == "a process of others" and Jail().landlock_version() < 6:
        pytest.skip("this kernel cannot hold signals back")
    home = folder / "home"
    home.mkdir()
    (home / ".bashrc").touch()
    before = {path: path.stat().st_size for path in folder.rglob("*")}
    found = held(folder, f"import shutil; {CHANGES[change]}", HOME=str(home))
    assert "PermissionError" in found.stderr, found.stderr
    assert {path: path.stat().st_size for path in folder.rglob("*")} == before
    for planted in (folder.parent / "planted", Path(SITE) / "planted.pth"):
        assert not planted.exists()


@pytest.mark.parametrize("file", ["environ", "mem", "maps"])
def test_it_cannot_look_into_its_parent(folder: Path, file: str) -> None:
    found = held(folder, f"open(f'/proc/{{PARENT}}/{file}').read(1)")
    assert "PermissionError" in found.stderr


def test_it_reads_writes_and_starts_programs_as_usual(folder: Path) -> None:
    program = (
        "open('kept/memory', 'w').write('what it knows')\n"
        "print(open('data.txt').read(), open('kept/memory').read())\n"
        "print(subprocess.run(['cat', 'data.txt'], capture_output=True, text=True).stdout)\n"
        "open('kept/new', 'w').write('for next time')\n"
        "os.rename('kept/new', 'kept/newer'); os.mkdir('kept/a'); os.rmdir('kept/a')\n"
        "print(1, file=open('/dev/null', 'w'))\n"
    )
    found = held(folder, program)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == ["open to all what it knows", "open to all"]
    assert held(folder, "print(open('kept/newer').read())").stdout == "for next time\n"


def test_signals_are_as_a_shell_has_them() -> None:
    words = [
        *launcher("native.confined", "-P"),
        str(os.getpid()),
        "[]",
        "[]",
        "[]",
        "--",
        "sh",
        "-c",
        "yes | head -1",
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("y\n", "")


def test_a_system_that_cannot_hold_it_is_said(folder: Path) -> None:
    words = launcher("native.confined", "-P")
    program = words[words.index("-c") + 1]
    words[words.index("-c") + 1] = program.replace(
        "from", "from peerage.sandbox.jail import Jail; Jail.hide_all_but = lambda *_: False; from", 1
    )
    arguments = [str(os.getpid()), json.dumps([str(folder)]), "[]", "[]", "--", "echo", "ran"]
    done = subprocess.run([*words, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (127, "")
    assert "no Landlock" in done.stderr


def test_all_else_is_readable(folder: Path) -> None:
    found = set(readable([str(folder / "arena.db")]))
    assert str(folder / "data.txt") in found
    assert str(folder / "arena.db") not in found
    assert not {str(parent) for parent in folder.parents} & found
    assert "/usr" in found
