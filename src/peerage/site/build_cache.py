"""What a build computed that no further match changes, kept beside its pages for the next one."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import msgspec
from msgspec import Struct

from peerage.outputs import Folder
from peerage.site.board_charts import stops
from peerage.site.reading import Course, Site
from peerage.tables.observations import Observations
from peerage.tables.speed import Waits

FILE = ".peerage-site/told"


class Computed(Struct):
    """The `observations` of all matches; how long answers took in everybody's newest ones (`waits`); and the
    ratings of each track after earlier matches, computed with these `settings` (a digest)."""

    observations: Observations
    waits: Mapping[int, Waits]
    settings: str
    courses: list[tuple[str, int, Course]]


def read(target: Folder, site: Site, number: int) -> Observations:
    """What an earlier build observed of the first `number` matches, and all else that it computed of them for
    `site`; nothing where that was not kept."""
    try:
        found = msgspec.msgpack.decode((target.root / FILE).read_bytes(), type=Computed)
    except (OSError, msgspec.MsgspecError):
        return Observations()
    if found.observations.matches != number:
        return Observations()
    site.waited = found.waits
    if found.settings == _settings(site):
        site.courses |= {(track, after): course for track, after, course in found.courses}
    return found.observations


def write(target: Folder, site: Site) -> None:
    """Keep what `site` computed."""
    followed = stops(site.number)
    courses = [(*at, course) for at, course in site.courses.items() if at[1] in followed]
    found = Computed(site.observations, site.waits, _settings(site), courses)
    target.write(FILE, msgspec.msgpack.encode(found), durable=False)


def _settings(site: Site) -> str:
    """A digest of the settings, which say how much each game weighs."""
    return sha256(repr(site.settings).encode("utf-8", "surrogatepass")).hexdigest()
