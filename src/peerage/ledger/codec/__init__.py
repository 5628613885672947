"""The stored forms of fixtures, requests, replies and records: JSON bytes, long texts by digest. Pure.

`docs/ledger.md` describes the formats.
"""

from peerage.ledger.codec.matches import fixture_body, read_fixture, read_record, record_body
from peerage.ledger.codec.replies import (
    Said,
    named_model,
    read_reply,
    read_said,
    reply_body,
    reply_of,
    reply_salt,
)
from peerage.ledger.codec.requests import (
    INLINE_CHARS,
    Part,
    Shown,
    asks_the_same,
    read_form,
    read_request,
    read_shown,
    read_templates,
    request_body,
    request_salt,
    seat_of,
)
from peerage.ledger.codec.texts import MissingText, Text, by_hex, text_digest

__all__ = [
    "INLINE_CHARS",
    "MissingText",
    "Part",
    "Said",
    "Shown",
    "Text",
    "asks_the_same",
    "by_hex",
    "fixture_body",
    "named_model",
    "read_fixture",
    "read_form",
    "read_record",
    "read_reply",
    "read_request",
    "read_said",
    "read_shown",
    "read_templates",
    "record_body",
    "reply_body",
    "reply_of",
    "reply_salt",
    "request_body",
    "request_salt",
    "seat_of",
    "text_digest",
]
