"""Checks of players before they play: library installed, key there, server answering, how to fix."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from peerage.game.media import Kind
from peerage.game.protocol import Choice
from peerage.players import open_client
from peerage.players.client import Answer, Call, Client, Later, PlayerError
from peerage.players.keys import PROVIDERS, extra_of, find_key, key_names, key_place
from peerage.players.prices import in_price_table, known_models
from peerage.settings import PlayerSettings, SettingsError, without_credentials
from peerage.values.texts import visible

TIMEOUT_S = 5.0
SHORT_LIST = 6
"""Models of a server that are named one by one."""
PROBE_TOKENS = 1_000
"""Output tokens that a probe's answer may take: as many as in a match, so that what refuses them is found."""
WARM_TOKENS = 32
"""The same for a question that is to warm a server."""
PATIENCE_S = 60.0
"""Seconds after which a probe is given up; a player may be that slow and still play."""
AGAIN = 3
"""Further requests where a client asks to be asked again at once."""
PAID = 2
"""Requests of one probe that may be billed: a server that fails may do so for the format, and is asked once
more without it."""

_SYSTEM = "You take part in games of language models. Reply in exactly the format that is asked for."
_EXPECTS = Choice("answer", ("yes", "no"))
_QUESTION = f"Is 7 greater than 5? {_EXPECTS.instruction()}"


@dataclass(frozen=True)
class PlayerFinding:
    """One thing that was looked at for one player. `fix` says what to do when it is not `ok`.

    `extra` names the extra of this package that is missing, when that is the trouble.
    """

    player: str
    subject: str
    ok: bool
    found: str
    fix: str = ""
    extra: str = ""


async def check(settings: PlayerSettings, env: Mapping[str, str], folder: Path) -> list[PlayerFinding]:
    """Return what there is to say about one player; asks its server for its models, never for a reply.

    Costs nothing and takes at most `TIMEOUT_S` seconds. No key appears in what it returns.
    """
    name = settings.name
    if extra := missing_extra(settings):
        fix = "`peerage doctor --install` installs it"
        return [PlayerFinding(name, "library", False, f"the extra `{extra}` is not installed", fix, extra)]
    findings = [PlayerFinding(name, "library", True, "installed")]
    names = key_names(settings)
    key = find_key(settings, env)
    if names:
        findings.append(
            PlayerFinding(name, "key", True, f"found in {key_place(settings, env)}")
            if key
            else PlayerFinding(
                name, "key", False, f"{names[0]} is not set", f"write {names[0]}=... into .env"
            )
        )
    if settings.provider in PROVIDERS:
        if key or not names:
            findings.append(await _ask_models(settings, env, key))
        if settings.acp:  # its program may be missing, too
            there = env if key or not names else {**env, names[0]: "missing"}
            findings.append(await _open(settings, there, folder))
        return findings
    if settings.provider in ("http", "https"):
        findings.append(await _ask_address(settings))
    elif settings.provider == "gguf":
        findings.append(_look_at_file(settings, folder))
    elif settings.is_person:
        how = f"`peerage play --as '{name}'`, or the link that `peerage serve` gives"
        findings.append(PlayerFinding(name, "person", True, f"replies by {how}"))
    elif settings.provider != "house":
        findings.append(await _open(settings, env, folder))
    return findings


def missing_extra(settings: PlayerSettings) -> str:
    """The extra that must be installed before this player can play; empty when it can."""
    needed = {
        "models": ("pydantic_ai", "openai", "aiohttp"),
        "anthropic": ("pydantic_ai", "openai", "aiohttp", "anthropic"),
        "google": ("pydantic_ai", "openai", "aiohttp", "google.genai"),
        "local": ("pydantic_ai", "openai", "aiohttp", "xllamacpp"),
    }
    extra = extra_of(settings)
    return extra if extra and not all(_installed(module) for module in needed[extra]) else ""


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


_NATIVE = {
    "anthropic": ("https://api.anthropic.com", "/v1/models", "x-api-key", "?limit=1000"),
    "google": (
        "https://generativelanguage.googleapis.com",
        "/v1beta/models",
        "x-goog-api-key",
        "?pageSize=1000",
    ),
}


@dataclass(frozen=True)
class Listing:
    """A server's list of its models: its HTTP status, None without an answer, and
    the models' names. `problem` says why there is no answer."""

    server: str
    status: int | None
    models: tuple[str, ...] = ()
    problem: str = ""


async def listing(settings: PlayerSettings, env: Mapping[str, str]) -> Listing:
    """Ask a provider or server for its models; costs nothing and takes at most `TIMEOUT_S` seconds."""
    base = _stated_base(settings, env) or PROVIDERS[settings.provider].base_url
    url = base.rstrip("/") + "/models"
    if settings.provider in _NATIVE:
        usual, path, _, page = _NATIVE[settings.provider]
        url = (settings.base_url or usual).rstrip("/") + path + page
    server = urlsplit(url).netloc.rpartition("@")[2]
    status, content = await _ask(url, _headers(settings, env))
    if status is None:
        return Listing(server, None, problem=content)
    return Listing(server, status, _models(content) if status == 200 else ())


def _headers(settings: PlayerSettings, env: Mapping[str, str]) -> dict[str, str]:
    key = find_key(settings, env)
    if settings.provider in _NATIVE:
        return {_NATIVE[settings.provider][2]: key, "anthropic-version": "2023-06-01"}
    return {"Authorization": f"Bearer {key}"} if key else {}


def _stated_base(settings: PlayerSettings, env: Mapping[str, str]) -> str:
    """The address of a server of one's own; empty for a provider's."""
    return settings.base_url or (env.get("OLLAMA_BASE_URL", "") if settings.provider == "ollama" else "")


async def wrong_address(settings: PlayerSettings, env: Mapping[str, str]) -> tuple[str, str]:
    """Return what is wrong with the address of a server that is there, and what to do about it.

    Both are empty where something is at the address that a match asks, and for providers' own servers. The
    request has neither a model nor a message, so that nobody can reply to it; it takes at most `TIMEOUT_S`
    seconds for each address tried.
    """
    base, path = _stated_base(settings, env).rstrip("/"), "/chat/completions"
    if settings.provider == "anthropic":
        path = "/v1/messages"
    if not base or settings.provider == "google":
        return "", ""
    if await _takes_calls(base + path, settings, env) is not False:
        return "", ""
    others = [f"{base}/v1"]
    for end in (path, "/completions", "/models", "/v1"):
        if base.endswith(end):
            others += [base.removesuffix(end), f"{base.removesuffix(end)}/v1"]
    asked = urlsplit(base + path).path
    for other in others:
        if await _takes_calls(other + path, settings, env):
            return (
                f"nothing is at {asked}, where a match asks",
                f"write `base_url: {without_credentials(other)}`",
            )
    return f"nothing is at {asked}, where a match asks", "fix `base_url`; most servers' end in `/v1`"


async def _takes_calls(url: str, settings: PlayerSettings, env: Mapping[str, str]) -> bool | None:
    """Return whether a server has something at an address of calls; None where it does not say so."""
    status, content = await _ask(url, _headers(settings, env), empty_call=True)
    if status is None or status >= 500:
        return None
    return status not in (404, 405) or "model" in content.casefold()


def _models(content: str) -> tuple[str, ...]:
    """The names in a list of models as OpenAI's API gives it, or Google's; empty when it is neither."""
    try:
        listed = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    rows = listed.get("data", listed.get("models")) if isinstance(listed, dict) else None
    names = [row.get("id") or row.get("name") for row in rows or () if isinstance(row, dict)]
    return tuple([name.removeprefix("models/") for name in names if isinstance(name, str)])


def is_listed(settings: PlayerSettings, models: Iterable[str]) -> bool:
    """Return whether a player's model is among those that its server lists, with or without its maker's
    name."""
    name = settings.model.partition(":")[2]
    if settings.provider in ("huggingface", "openrouter"):
        name = name.partition(":")[0]  # what follows is not the model but where or how it is served
    return any(model == name or model.endswith(f"/{name}") for model in models)


def near_models(settings: PlayerSettings, models: Iterable[str] = ()) -> str:
    """`did you mean …?` for a model that nobody knows by its name: the nearest of `models`, the server's own
    list, or of the price table's; all of a short list when none is near; else empty."""
    name = settings.model.partition(":")[2]
    known = [visible(model) for model in models] or list(known_models(settings))
    if name in known:
        return ""
    spelt = {model.casefold(): model for model in known}
    if close := difflib.get_close_matches(name.casefold(), spelt, n=1, cutoff=0.6):
        return f"did you mean `{spelt[close[0]]}`?"
    return f"it has {', '.join(known)}" if 0 < len(known) <= SHORT_LIST else ""


async def advice(settings: PlayerSettings, env: Mapping[str, str], failure: str) -> str:
    """Return what to do about a model that its server turned down: the right address or name, when its own
    seems to be wrong.

    Empty when the server lists the model or nothing is known.
    """
    if settings.provider not in PROVIDERS:
        return ""
    if "(404)" in failure or "(405)" in failure:
        _, fix = await wrong_address(settings, env)
        if fix:
            return fix
    listed = (await listing(settings, env)).models
    known = is_listed(settings, listed) if listed else in_price_table(settings)
    return "" if known else near_models(settings, listed)


async def _ask_models(settings: PlayerSettings, env: Mapping[str, str], key: str) -> PlayerFinding:
    """GET the list of models: tells whether the server answers, the key works, and the model exists; and see
    that something is where a match asks."""
    about = partial(PlayerFinding, settings.name, "server")
    listed = await listing(settings, env)
    server, status = listed.server, listed.status
    if status is None:
        fix = "start it, or fix `base_url`" if settings.base_url else "check the network"
        return about(False, f"{server} does not answer: {listed.problem}", fix)
    if status in (401, 403):
        fix = (
            f"check the key in {key_place(settings, env)}" if key else "name the key's variable in `key_env`"
        )
        return about(False, f"{server} denies access ({status})", fix)
    if status >= 500:
        return about(False, f"{server} fails ({status})", "try again later")
    wrong, fix = await wrong_address(settings, env)
    if wrong:
        return about(False, f"{server} answers, but {wrong}", fix)
    if listed.models and not is_listed(settings, listed.models):
        fix = near_models(settings, listed.models) or "check the model's name"
        return about(True, f"{server} answers, but does not list {settings.model.partition(':')[2]}", fix)
    return about(True, f"{server} answers")


async def _ask_address(settings: PlayerSettings) -> PlayerFinding:
    from peerage.players.agents.endpoint import address

    about = partial(PlayerFinding, settings.name, "server")
    url = address(settings.model)
    status, content = await _ask(url, {})
    server = urlsplit(url).netloc.rpartition("@")[2]
    if status is None:
        return about(False, f"{server} does not answer: {content}", "start the agent there")
    if status == 404:
        return about(True, f"{server} answers, but has nothing at that path (404)", "check the address")
    return about(True, f"{server} answers")


async def _ask(url: str, headers: Mapping[str, str], empty_call: bool = False) -> tuple[int | None, str]:
    """Status and body of a GET, or of a POST of an empty object; None and the cause without an answer."""
    import aiohttp

    from peerage.players.session import open_session, read_bounded

    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            open_session(url) as session,
            session.request(
                "POST" if empty_call else "GET", url, headers=headers, json={} if empty_call else None
            ) as response,
        ):
            return response.status, (await read_bounded(response)).decode("utf-8", "replace")
    except TimeoutError:
        return None, f"silent for {TIMEOUT_S:g} s"
    except (aiohttp.ClientError, OSError, PlayerError, ValueError) as error:
        return None, str(error) or type(error).__name__


def _look_at_file(settings: PlayerSettings, folder: Path) -> PlayerFinding:
    from peerage.players.hosted.gguf import model_file

    try:
        model_file(settings.model, folder)
    except PlayerError as error:
        return PlayerFinding(settings.name, "file", False, str(error), "fix the path after `gguf:`")
    return PlayerFinding(settings.name, "file", True, "a GGUF file")


async def _open(settings: PlayerSettings, env: Mapping[str, str], folder: Path) -> PlayerFinding:
    try:
        client = open_client(settings, env, folder)
        await client.start()
        await client.close()
    except (PlayerError, SettingsError) as error:
        fix = ("fix `acp` or `mcp`" if settings.mcp else "fix `acp`") if settings.acp else "fix `model`"
        found = str(error).removeprefix(f"{settings.name}: ")
        return PlayerFinding(settings.name, "agent", False, found, fix)
    warned: Sequence[str] = getattr(client, "warnings", ())
    return PlayerFinding(settings.name, "agent", True, "; ".join(["its agent can be started", *warned]))


class Probed(Struct, frozen=True):
    """Result of a probe: an answer, or a failure and what to do about it; `requests` is how many it took, of
    which `maybe_paid`, the last one apart, came to nothing and may be billed all the same. `media` are what
    came of further requests, each about a kind of media: whether the player takes it, with the reply or the
    failure."""

    player: str
    requests: int
    answer: Answer | None = None
    failure: PlayerError | None = None
    advice: str = ""
    maybe_paid: int = 0
    media: Mapping[Kind, tuple[bool | None, Answer | PlayerError]] = {}

    @property
    def unusable(self) -> bool:
        """Return whether the player cannot play until somebody changes its settings, key or account.

        A server that turns down a question asked like those of a match turns down every other one.
        """
        return self.failure is not None and self.failure.kind != "transient" and not self.failure.maybe_paid

    @property
    def down(self) -> bool:
        """Return whether nobody is there: no connection, a server that fails. One that is slow, at a limit,
        or says when to ask again is there."""
        failure = self.failure
        if failure is None or isinstance(failure, Later) or failure.busy or failure.retry_after_s:
            return False
        return failure.kind == "transient"

    @property
    def thinks(self) -> bool:
        """Return whether the model was seen to think before it answers."""
        return self.answer is not None and self.answer.thought

    @property
    def problem(self) -> str:
        """The failure and its advice, in one sentence for people; empty without one."""
        if self.failure is None:
            return ""
        return f"{self.failure}; {self.advice}" if self.advice else str(self.failure)


def together(problems: Mapping[str, str]) -> list[str]:
    """Problems by player, a line for each; of players with the same one, one line."""
    players: dict[str, list[str]] = {}
    for player, problem in problems.items():
        players.setdefault(problem.removeprefix(f"{player}: "), []).append(player)
    return [f"{', '.join(names)}: {problem}" for problem, names in players.items()]


def needs_probe(settings: PlayerSettings) -> bool:
    """Return whether a player is behind a network: a model of a provider or server, an agent's address."""
    return settings.provider in (*PROVIDERS, "http", "https")


def probe_call(thinking_tokens: int = 0, max_tokens: int = PROBE_TOKENS) -> Call:
    """The question of every probe, asked as a match asks: a system text, a format, its limits."""
    return Call(
        "probe",
        "contestant",
        (("system", _SYSTEM), ("user", _QUESTION)),
        _EXPECTS,
        max_tokens,
        temperature=None,
        seed="probe",
        thinking_tokens=thinking_tokens,
    )


async def probe(
    settings: PlayerSettings, client: Client, env: Mapping[str, str], thinking_tokens: int = 0
) -> Probed:
    """Ask a started client one small question, with the room to think that it has in a match.

    Nothing is repeated, unless the client asks for that: it has learnt what its server fails at. Raises
    nothing: every failure is in what it returns.
    """
    sent = paid = 0
    while True:
        sent += 1
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await client.answer(probe_call(thinking_tokens))
        except TimeoutError:
            late = f"{settings.name}: no reply within {PATIENCE_S:g} s"
            return Probed(
                settings.name, sent, failure=PlayerError(late, maybe_paid=True, busy=True), maybe_paid=paid
            )
        except PlayerError as failure:
            if failure.retry_after_s == 0.0 and sent <= AGAIN and paid + failure.maybe_paid < PAID:
                paid += failure.maybe_paid
                continue
            probed = Probed(settings.name, sent, failure=failure, maybe_paid=paid)
            if probed.unusable:
                return replace(probed, advice=await advice(settings, env, str(failure)))
            return probed
        return Probed(settings.name, sent, answer, maybe_paid=paid)
