"""Addresses of PostgreSQL, and its errors in words."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import psycopg

from peerage.ledger.forms.rows import LedgerError


def parts(address: str) -> tuple[str, str, str, str]:
    """Return an address without its password, the password, the schema, and the rest for libpq."""
    url = urlsplit(address)
    asked = dict(parse_qsl(url.query, keep_blank_values=True))
    password = unquote(asked.pop("password", ""))
    login, at, host = url.netloc.rpartition("@")
    user, _, stated = login.partition(":")
    schema = asked.get("schema", "peerage")
    if not (schema.isidentifier() and schema == schema.lower() and len(schema.encode()) < 64):
        raise LedgerError(f"schema={schema} is no name of a schema; write small letters, digits and _")
    options = {name: value for name, value in asked.items() if name != "schema"}
    place, plain = (
        f"postgresql://{user}{at}{host}{url.path}"
        + (f"?{urlencode(query, safe='/', quote_via=quote)}" if query else "")
        for query in (asked, options)
    )
    return place, unquote(stated) or password, schema, plain


def is_lost(error: Exception) -> bool:
    """Return whether the connection failed: no server, one that starts or ends, a line that broke."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))


def explained(error: Exception, place: str, user: str, schema: str) -> str:
    """Return what went wrong, where, and how to fix it."""
    state = str(getattr(error, "sqlstate", None) or "")
    message = " ".join(str(error).split()).partition(" LINE ")[0]
    known = {
        "25006": "it only reads, as a replica does. Reading commands work; for others give the address of "
        "the server that writes",
        "42501": f"{user} lacks a right ({message}). The owner of the database gives it: GRANT CREATE ON "
        f"DATABASE to make a ledger; GRANT USAGE ON SCHEMA {schema} and GRANT SELECT, to write also INSERT, "
        "UPDATE and DELETE, ON ALL TABLES in it to use one",
        "53100": "its disk is full; what was recorded is safe. Free some space, run again",
        "42P01": f"it is damaged ({message}); restore it from a copy",
    }
    if state in known:
        return f"{place}: {known[state]}"
    if state.startswith("23"):
        return f"a row contradicts what {place} holds: {message}; nothing of this batch was written"
    if not is_lost(error):
        return f"{place}: {message}"
    if "unsupported startup parameter" in message:
        return (
            f"{place} is the address of a pooler, under which no lock outlives a transaction; give the "
            "address of the server itself"
        )
    if "authentication failed" in message or "no password supplied" in message:
        return (
            f"{place} refused the password of {user}, or was given none; write the whole address with the "
            "right one into .env, as DATABASE_URL=..., and `ledger: $DATABASE_URL` into arena.yaml"
        )
    refused = message.rpartition("FATAL: ")[2].strip()
    if refused.endswith("does not exist"):
        return f"{place}: {refused} on that server; make it, or correct the address"
    return f"{place} cannot be reached ({message}). Check that the server runs and that the address is right"
