"""Folders and patches as values: digests, paths, and what a patch leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.sandbox.folder import File, WorkFolder, checked_path, patch_text, patched, read_patch


def test_a_folder_is_known_by_paths_modes_and_bytes() -> None:
    plain = WorkFolder.of({"a.py": "x = 1\n", "b/c.txt": "two"})
    assert plain.digest == WorkFolder.of({"b/c.txt": "two", "a.py": "x = 1\n"}).digest
    others = (
        {"a.py": "x = 2\n", "b/c.txt": "two"},
        {"a.py": File("x = 1\n", executable=True), "b/c.txt": "two"},
        {"a.py": "x = 1\n", "b/d.txt": "two"},
    )
    assert len({plain.digest, *[WorkFolder.of(files).digest for files in others]}) == 4


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a\\b", "a\0", "./a", ".git/hooks/x", "a" * 401]
)
def test_a_path_stays_below_its_folder(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        checked_path(path)
    with pytest.raises(ValueError, match="path"):
        read_patch(patch_text({path: None}))


@given(st.binary(max_size=64), st.booleans())
def test_a_file_holds_any_bytes(content: bytes, executable: bool) -> None:
    file = File.of(content, executable)
    assert file.content == content
    read = read_patch(patch_text({"f": file}))["f"]
    assert read == file


def test_a_patch_changes_adds_and_removes() -> None:
    files = {"a": File("1"), "b": File("2")}
    assert patched(files, {"a": None, "b": File("3"), "c": File("4")}) == {"b": File("3"), "c": File("4")}


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": {"base64": "!"}}', "[" * 100_000])
def test_what_is_no_patch_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_patch(text)
