"""Addresses of MongoDB, and its errors in words."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    CursorNotFound,
    InvalidURI,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
)

from peerage.ledger.forms.rows import LedgerError

_REPLACED = (24, 43, 237, 239, 246)
"""Codes that say that a cursor, or the moment at which it reads, is no longer there."""
_READS_ONLY = (10058, 10107, 11602, 13435, 13436)


def parts(address: str) -> tuple[str, str, str]:
    """An address without its password, the password, and the name of the database."""
    url = urlsplit(address)
    login, at, host = url.netloc.rpartition("@")
    user, _, password = login.partition(":")
    place = url._replace(netloc=f"{user}{at}{host}").geturl()
    name = unquote(url.path.removeprefix("/"))
    if not name or set(name) & set('/\\. "$*<>:|?') or len(name.encode()) > 63:
        raise LedgerError(
            f"{place}: {name!r} is no name of a database; write mongodb://HOST/DATABASE. Each arena has a "
            "database of its own"
        )
    return place, unquote(password), name


def is_lost(error: BaseException) -> bool:
    """Return whether it is the connection that failed, or whatever comes after it: no server, one that starts
    or ends, a primary that stepped down, a cursor that is gone."""
    if isinstance(error, (AutoReconnect, CursorNotFound)):
        return True
    return isinstance(error, OperationFailure) and error.code in _REPLACED


def reads_only(error: PyMongoError) -> bool:
    """Return whether the server that was asked writes nothing, since it is not the first of its set."""
    return isinstance(error, NotPrimaryError) or getattr(error, "code", None) in _READS_ONLY


def explained(error: PyMongoError, place: str, user: str) -> str:
    """Return what went wrong, where, and how to fix it."""
    code = getattr(error, "code", None)
    message = " ".join(str(error).partition(", full error")[0].partition(", Timeout:")[0].split())
    details = getattr(error, "details", None) or {}
    if wrong := details.get("writeErrors"):
        code, message = wrong[0].get("code"), str(wrong[0].get("errmsg", message))
    if code == 18 or "Authentication failed" in message:
        return (
            f"{place} refused the password of {user}, or knows no such user; write the whole address with "
            "the right one into .env, as MONGODB_URI=..., and `ledger: $MONGODB_URI` into arena.yaml. Where "
            "users are kept in another database, say ?authSource=admin"
        )
    if code in (13, 8000):
        return (
            f"{place}: {user} lacks a right ({message}). An administrator gives it: the role readWrite on "
            "that database to play, the role read to look"
        )
    if code == 20 or "replica set" in message:
        return (
            f"{place} is no replica set, and without one there are no transactions; start mongod with "
            "--replSet NAME and initiate it once (rs.initiate()), one member is enough"
        )
    if reads_only(error):
        return (
            f"{place} only reads, as a secondary does. Reading commands work; for others give the address of "
            "the replica set, without directConnection"
        )
    if code == 11000:
        return f"a row contradicts what {place} holds: {message}; nothing of this batch was written"
    if code == 14031:
        return f"{place}: its disk is full; what was recorded is safe. Free some space, run again"
    if isinstance(error, (ConfigurationError, InvalidURI)):
        return f"{place} is no address of MongoDB: {message}"
    if is_lost(error):
        return (
            f"{place} cannot be reached ({message}). Check that the server runs and that the address is right"
        )
    return f"{place}: {message}"
