"""The browser that tests of pages need, and the windows they look through."""

from __future__ import annotations

import shutil

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]
"""Pages have nothing that an imitated graphics card would draw: it costs a seventh of the time."""
needed = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
PATIENCE_MS = 60_000
