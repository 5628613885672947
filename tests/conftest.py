"""What holds for every test."""

from __future__ import annotations

import gc
import importlib
import pickle
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from peerage.ledger import Ledger, open_ledger
from peerage.ledger.forms import bodies
from peerage.ledger.stores import sqlite
from peerage.ledger.topics import secret
from peerage.ratings.strength.posterior import Strengths

if TYPE_CHECKING:
    from tests.servers.mongo import MongoServer
    from tests.servers.postgres import PostgresServer

# A busy machine is slow to draw examples; that says nothing about the program. `make test` draws the same
# ones in every run, `make test-all` others each time.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("explore"), derandomize=True)
settings.load_profile("same")

BOUND_S = 300
"""How long a test may take, and what it has set up to end, before it counts as hung."""
BOUNDS_S = {"slow": 3600, "real": 7200}
"""The same for tests with these marks."""

LONG = (Path(__file__).parent / "long.txt").read_text("utf-8").split()
"""Files that take longest, the longest first: a process that begins with one at the end plays it alone.
`make quick` leaves them out."""

NOT_QUICK = ("cluster", "conformance", "faults", "packages", "real", "sandbox", "site")
"""Rooms that `make quick` leaves out: what they try is real processes and servers, or every game."""

SERVERS = {"postgres", "mongo", "store_server"}
"""What needs one of these is no part of `make quick` either."""

_DIED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what takes long, as `make quick` does")


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than there are cores: tests of servers, browsers and signals mostly wait."""
    return (yield) + 1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    here = Path(__file__).parent
    if not config.getoption("quick", default=False) or here not in collection_path.parents:
        return None
    name = collection_path.relative_to(here).as_posix()
    return name in LONG or name in NOT_QUICK or None


@pytest.hookimpl(trylast=True)  # when the profile has been chosen
def pytest_configure() -> None:
    """Children heed Ctrl+C and a closed window, also where these tests run in the background or under nohup.

    There the two signals are ignored, which a child inherits; a handler that does nothing is not inherited.
    """
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    # Where examples are the same in every run, none is a constant of those modules that were loaded by then.
    if settings().derandomize:
        patch.object(providers, "_get_local_constants", lambda: providers._local_constants).start()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Tests of a worker that died may never have run: no failure of single tests (see `make test`)."""
    if error:
        node.config.stash[_DIED] = True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash.get(_DIED, False):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick", default=False):
        items[:] = [item for item in items if not SERVERS & {*getattr(item, "fixturenames", ())}]
    order = {Path(__file__).parent / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path, len(LONG)))
    for item in items:
        if item.get_closest_marker("timeout") is None:
            marked = [bound for mark, bound in BOUNDS_S.items() if item.get_closest_marker(mark)]
            item.add_marker(pytest.mark.timeout(max(marked, default=BOUND_S)))


def pytest_collection() -> None:
    """Search for no garbage among all that tests are made of, and for that of tests rarely."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def unsynced_ledgers() -> Iterator[None]:
    """Tests lose no power: nothing written need wait for the disk. Those of losing power have another."""
    with patch.object(sqlite, "SYNCHRONOUS", "OFF"), patch("os.fsync"):
        yield


ONCE = {
    "peerage.reading.results.evidence": ("strengths", "pooled", "claims"),
    "peerage.reading.results.played": ("pooled",),
    "peerage.views.plan.outlook": ("forecast",),
}
"""The costliest functions behind pages, by the module that calls them."""
DRAWN = {
    "peerage.games.allocation.play": "task_of",
    "peerage.games.bug_hunt.play": "buggy",
    "peerage.games.code_golf.play": "golf_task",
    "peerage.games.workshop.play": "work_task",
}
"""The functions that take longest to draw tasks, by the module that calls them."""


def _once(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the last answers to equal questions. What was said before stands for itself: it is kept, too."""
    said: dict[bytes, tuple[Any, ...]] = {}

    def known(*given: Any, **named: Any) -> Any:
        plain = [id(each) if isinstance(each, Strengths) else each for each in (*given, *named.items())]
        key = pickle.dumps(plain)
        if key not in said:
            if len(said) == 64:
                del said[next(iter(said))]
            said[key] = ask(*given, **named), given
        return said[key][0]

    return known


@pytest.fixture(autouse=True, scope="session")
def same_matches_say_the_same() -> Iterator[None]:
    """Tests of pages read the same arenas over and over: a process works out once what equal matches say.
    That it is the same every time is a matter of the tests of ratings, which ask past this."""
    with ExitStack() as patches:
        for module, names in ONCE.items():
            for name in names:
                asks = _once(getattr(importlib.import_module(module), name))
                patches.enter_context(patch(f"{module}.{name}", asks))
        yield


def _drawn_once(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what was drawn, by the state of the generator it was drawn from, and the state it left."""
    drawn: dict[tuple[object, ...], tuple[Any, tuple[Any, ...]]] = {}

    def known(rng: Random, *given: object) -> Any:
        key = rng.getstate(), *given
        if key not in drawn:
            drawn[key] = draw(rng, *given), rng.getstate()
        task, after = drawn[key]
        rng.setstate(after)
        return task

    return known


@pytest.fixture(autouse=True, scope="session")
def same_seeds_draw_the_same() -> Iterator[None]:
    """Many tests play matches of the same seeds: a process draws their tasks once. That a seed draws the same
    every time is a matter of the tests of each game's tasks and of golden matches."""
    with ExitStack() as patches:
        for module, name in DRAWN.items():
            draws = _drawn_once(getattr(importlib.import_module(module), name))
            patches.enter_context(patch(f"{module}.{name}", draws))
        yield


@pytest.fixture(scope="module")
def plain_bodies() -> Iterator[None]:
    """Bodies are stored as they are, so that a test can change them in the file."""
    with patch.object(bodies, "SHORTEST", 2**62):
        yield


def _own_server(kind: str, package: str) -> Iterator[Any]:
    """A server of this process's own; without one the test is skipped, with the reason."""
    pytest.importorskip(package, reason=f"needs the extra `{kind}`", exc_type=ImportError)
    from tests.servers.own_server import Missing

    module = importlib.import_module(f"tests.servers.{kind}")
    try:
        server = getattr(module, f"{kind.capitalize()}Server")()
    except Missing as why:
        pytest.skip(str(why))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    yield from _own_server("postgres", "psycopg")


@pytest.fixture(scope="session")
def mongo() -> Iterator[MongoServer]:
    yield from _own_server("mongo", "pymongo")


@pytest.fixture(params=["postgres", "mongo"])
def store(request: pytest.FixtureRequest) -> str:
    """Each kind of server that keeps ledgers."""
    return str(request.param)


@pytest.fixture
def store_server(store: str, request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(store)


@pytest.fixture
def stored(store_server: Any) -> Iterator[Ledger]:
    """A new ledger on a server of each kind."""
    with closing(open_ledger(store_server.address(), Path(), create=True)) as opened:
        yield opened


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    """What hung may hang once more when it is taken down, and pytest-timeout bounds no test that failed."""
    if not hasattr(signal, "setitimer"):
        return (yield)

    def late(*_: object) -> None:
        pytest.fail(f"taking it down took longer than {BOUND_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, BOUND_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _draw_secrets(name: str) -> None:
    """Let an arena without a seed draw the same secret in every run, whatever ran before."""
    rng = Random(name)
    secret.secrets = SimpleNamespace(token_hex=lambda size: rng.randbytes(size).hex())  # type: ignore[assignment]


@pytest.fixture(scope="module", autouse=True)
def _secrets_of_the_file(request: pytest.FixtureRequest) -> None:
    _draw_secrets(request.node.nodeid)


@pytest.fixture(autouse=True)
def _secrets_of_the_test(request: pytest.FixtureRequest) -> None:
    _draw_secrets(request.node.nodeid)
