"""The API fuzzed from its own document: whatever is sent, the answer is one that the document describes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.engine.arenas import play, write_arena

from peerage.site.api.answers import openapi
from peerage.site.http.guard import MOST_ADDRESS
from peerage.site.people import voting_pages
from peerage.site.server.server import ArenaServer

SCHEMA = schemathesis.openapi.from_dict(openapi(voting=True))
OPERATIONS = {operation.ok().label: operation.ok() for operation in SCHEMA.get_all_operations()}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = write_arena(tmp_path_factory.mktemp("fuzzed"))
    play(folder, 6)
    with (
        pytest.MonkeyPatch.context() as patched,
        TestClient(ArenaServer(folder, voting=True, token=None).app, "http://localhost") as made,
    ):
        # The limits have tests of their own; here all that is sent shall be looked at.
        patched.setattr(voting_pages.RateLimit, "wait", lambda *_: 0.0)
        yield made


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_answer_is_one_that_the_document_describes(client: TestClient, label: str) -> None:
    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def fuzz(data: Any) -> None:
        mode = data.draw(st.sampled_from(list(schemathesis.GenerationMode)))
        case = data.draw(OPERATIONS[label].as_strategy(generation_mode=mode))
        sent = case.as_transport_kwargs(base_url="http://localhost")
        request = client.build_request(
            sent["method"],
            sent["url"],
            params=sent.get("params"),
            headers=dict(sent["headers"]),
            json=sent.get("json"),
            content=sent.get("data"),
        )
        assume(len(str(request.url)) < MOST_ADDRESS)
        case.validate_response(client.send(request))

    fuzz()
