"""Kills of everything that plays an arena on a Ray cluster of two nodes, at random moments.

Nothing recorded is lost or asked again, the table is that of one process, and the provider's book agrees with
the ledger.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs the extra `ray`")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for its victims in /proc")

KEPT = "PEERAGE_KILLS"
"""Names a folder where a campaign that was stopped goes on."""


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.usefixtures("postgres")  # whose absence skips
def test_two_hundred_kills(tmp_path: Path) -> None:
    from tests.cluster.kills import VICTIMS, campaign

    found = campaign(Path(os.environ.get(KEPT) or tmp_path), 200, 1)
    counts = found["counts"]
    assert found["different"] == []
    assert found["kills"].total() == 200
    assert min(found["kills"][victim] for victim in VICTIMS) > 20
    assert counts["open"] > 200, "kills hit no calls in flight"
    assert counts["asked_again"] == 0
    assert counts["wrong"] == counts["short"] == counts["over"] == 0
    assert counts["recorded"] <= counts["received"] <= counts["recorded"] + counts["open"]
