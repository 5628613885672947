"""Errors of the operating system in words: what is wrong, and what to do; no traceback, no wrong advice."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from peerage.ledger.stores.sqlite import _explain
from peerage.players.session import connection_failure
from peerage.values.system_errors import REMEDIES, reason, why_not_opened
from tests.engine.arenas import write_arena


def test_each_has_a_remedy_and_others_are_as_the_system_says() -> None:
    assert "ulimit -n" in reason(OSError(errno.EMFILE, "Too many open files"))
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENFILE, errno.ELOOP, errno.ENAMETOOLONG):
        assert reason(OSError(number, os.strerror(number))) == REMEDIES[number]
        assert "permission" not in REMEDIES[number]
    assert reason(OSError(errno.ENOTDIR, "Not a directory")) == "Not a directory"
    assert reason(OSError("torn")) == "torn"


@pytest.mark.parametrize("files", range(4, 13))
def test_a_limit_of_few_open_files_is_named_as_such(tmp_path: Path, files: int) -> None:
    write_arena(tmp_path, 6)
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (files, files))
    # What the environment imports first (.pth files) may need more files than this.
    bare = subprocess.run([sys.executable, "-c", ""], capture_output=True, preexec_fn=limit)
    if bare.returncode or bare.stderr:
        pytest.skip(f"Python itself does not start with {files} files")
    done = subprocess.run(
        [sys.executable, "-m", "peerage", "run", "--yes", "--max-matches", "2", "--dir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=limit,
    )
    if done.returncode:
        assert done.stderr.rstrip().endswith("`ulimit -n 4096`"), done.stderr
        assert "too many open files" in done.stderr
    assert "Traceback" not in done.stderr
    assert "never awaited" not in done.stderr


def test_a_ledger_that_cannot_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = tmp_path / "loop.db"
    loop.symlink_to(loop)
    assert "lead in a circle" in why_not_opened(loop)
    assert "too long" in why_not_opened(tmp_path / ("x" * 300))
    fine = tmp_path / "fine.db"
    fine.touch()
    assert why_not_opened(fine) == ""
    assert "the disk is full" in _explain(OSError(errno.ENOSPC, "No space left"), fine)


def test_a_connection_that_this_machine_cannot_open_is_no_fault_of_the_server() -> None:
    failure = connection_failure(OSError(errno.EMFILE, "Too many open files"))
    assert "ulimit" in str(failure)
    assert failure.kind == "transient"
