"""The mark of tests that need the jail: skipped only where this machine cannot have one."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from peerage.sandbox.native.confined import available
from peerage.sandbox.native.places import lacking


def _namespaces() -> bool:
    """Return whether another program can make the namespaces of a jail: then ours has to."""
    if not available() or (unshare := shutil.which("unshare")) is None:
        return False
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    words = [unshare, *user, "--mount", "--net", "--pid", "--fork", "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


needs_jail = pytest.mark.skipif(bool(lacking()) and not _namespaces(), reason=lacking())
