"""Variables: those of the environment, and of the arena's `.env`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DATABASES = {
    "DATABASE_URL": ("PostgreSQL", ("postgresql://", "postgres://")),
    "MONGODB_URI": ("MongoDB", ("mongodb://", "mongodb+srv://")),
}
"""The variables in which hosts of databases give their address, its password in it, by what they are of, and
how such addresses begin."""


def databases(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold the address of a database, and what it is of."""
    return {name: kind for name, (kind, begins) in DATABASES.items() if env.get(name, "").startswith(begins)}


def environment(folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """`env` and, for names it does not hold, those of the `.env` file in `folder`.

    Values are taken as they stand: nothing is interpolated and nothing is put into this process's
    own environment. A missing file is no error; an unreadable one raises OSError.
    """
    path = folder / ".env"
    if not path.is_file():
        return dict(env)
    from dotenv import dotenv_values

    stated = dotenv_values(path, interpolate=False, encoding="utf-8-sig")
    return {name: value for name, value in stated.items() if value} | dict(env)
