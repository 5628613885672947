"""What is stored of a request, a reply, a fixture and a record reads back as it was."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.game.match import Fixture, MatchRecord, Outcome, Seat, Totals
from peerage.game.protocol import Ask, Choice, Message, Quote, Reply, Text, fence, render
from peerage.game.work import AgentStep, ModelCall, Trace
from peerage.ledger import Exchange
from peerage.ledger.forms.codec import (
    by_hex,
    fixture_body,
    read_fixture,
    read_record,
    read_reply,
    read_said,
    record_body,
    reply_body,
)
from peerage.ledger.forms.codec_requests import INLINE_CHARS, read_request, request_body
from peerage.values.sealing import REDACTED, committed
from peerage.values.texts import storable

texts = st.text(max_size=3 * INLINE_CHARS).map(storable)
names = st.text(min_size=1, max_size=12).map(storable)
places = st.sampled_from(["a", "b", "long_name"])
REPLIES = {"said/1": "a reply “with” quotes\n" * 40, "said/2": "", "said/2~repair": "é" * 500}


@st.composite
def quotes(draw: st.DrawFn) -> Quote:
    label = draw(st.sampled_from(["", "answer A", "last draft"]))
    if draw(st.booleans()):
        key = draw(st.sampled_from(sorted(REPLIES)))
        return Quote(label, REPLIES[key][: draw(st.integers(0, 1000))], key)
    return Quote(label, draw(texts))


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    messages = []
    for speaker in draw(st.lists(st.sampled_from(["system", "user", "assistant"]), max_size=3)):
        fill = draw(st.dictionaries(places, texts | quotes(), max_size=3))
        template = "".join(f"{draw(st.sampled_from(['', 'x ', '{{}} ', 'é']))}{{{place}}}" for place in fill)
        messages.append(Message(speaker, template + "end", fill))
    expects = draw(
        st.builds(Text, max_chars=st.integers(1, 99_999))
        | st.builds(Choice, field=names, options=st.lists(names, min_size=1, max_size=3).map(tuple))
    )
    temperature = draw(st.none() | st.floats(0, 2))
    role = draw(st.sampled_from(["author", "committee", "contestant", "judge"]))
    return Ask(
        draw(names), draw(names), role, tuple(messages), expects, draw(st.integers(1, 10**6)), temperature
    )


@settings(max_examples=50)
@given(asks())
def test_a_request_reads_back_as_asked_and_renders_the_same(ask: Ask) -> None:
    body, stored = request_body(ask)
    assert all(sha256(text.encode()).digest() == digest for digest, text in stored)
    back = read_request(ask.key, body, by_hex(dict(stored)), REPLIES.__getitem__)
    assert back == ask
    mark = fence("seed", ask.key)
    assert [render(m, mark) for m in back.messages] == [render(m, mark) for m in ask.messages]


@settings(max_examples=50)
@given(asks(), st.text())
def test_the_bytes_do_not_depend_on_the_oracle_or_on_what_came_before(ask: Ask, oracle: str) -> None:
    body, _ = request_body(ask)
    told = Ask(
        ask.to,
        ask.key,
        ask.role,
        ask.messages,
        ask.expects,
        ask.max_tokens,
        ask.temperature,
        {"answer": oracle},
    )
    assert request_body(told)[0] == body


counts = st.none() | st.integers(0, 2**40)
steps = st.builds(AgentStep, st.sampled_from(["text", "thought", "tool", "note"]), texts, texts, names)
calls = st.builds(ModelCall, names, names, st.integers(0, 999), counts, counts, counts, counts)


@given(
    st.builds(
        Reply,
        st.sampled_from(["ok", "refused", "void"]),
        texts,
        st.none(),
        texts,
        counts,
        counts,
        st.integers(0, 10**9),
        counts,
        st.dictionaries(st.sampled_from(["kwh", "images"]), st.floats(0, 1e9)),
        st.none() | st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False) | names),
        names,
        trace=st.none()
        | st.builds(Trace, st.tuples() | st.tuples(steps, steps), st.tuples() | st.tuples(calls)),
    ),
    texts,
    st.booleans(),
    st.sampled_from(["", "0f" * 16]),
)
def test_a_reply_reads_back(reply: Reply, model: str, truncated: bool, salted: str) -> None:
    body = reply_body(reply, model, "price", truncated, salted)
    row = Exchange(1, reply.key, 1, "ada", b"", body, None, None, latency_ms=reply.latency_ms)
    assert read_reply(row) == reply
    if salted:
        redacted = read_said(committed(body))
        assert (redacted.words, redacted.way) == (REDACTED, None)


seats = st.builds(Seat, names, names, st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
plain = st.dictionaries(names, st.integers().filter(lambda n: abs(n) < 2**60) | texts | st.none())


@given(
    st.builds(
        Fixture,
        st.integers(1, 2**40),
        st.integers(1, 2**40),
        names,
        st.integers(1, 99),
        names,
        st.lists(seats, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["author", "judge"]), st.lists(seats, max_size=3).map(tuple)),
        plain,
        plain,
        st.integers(0, 2**40),
    )
)
def test_a_fixture_reads_back(fixture: Fixture) -> None:
    body, stored = fixture_body(fixture)
    assert read_fixture(body, by_hex(dict(stored))) == fixture


@given(st.floats(0, 1), st.floats(-1e4, 1e4), st.integers(0, 2**50), texts)
def test_a_record_reads_back(score: float, rating: float, nano: int, void: str) -> None:
    record = MatchRecord(
        3,
        "f" * 64,
        "e" * 64,
        Outcome(void, {"A": score}, {"A": None, "B": 0.1}, ({"fact": 1},), {"detail": [1, None]}),
        {"raw": {"ada": (1500.0, rating)}},
        {"ada": Totals(1, 2, 3, nano, 1)},
    )
    assert read_record(record_body(record)) == record
