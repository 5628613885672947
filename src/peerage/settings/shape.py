"""Settings of `arena.yaml`: every key with its meaning, range and default."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from peerage.game.media import MediaShelf
from peerage.game.protocol import SANDBOX
from peerage.game.section import SettingsSection
from peerage.game.texts import Preset
from peerage.games import GAMES, candidates, installed
from peerage.games.judged import JudgingSettings
from peerage.scheduling.standing import Goal
from peerage.settings.media import MediaSettings
from peerage.settings.own_tasks import with_tasks
from peerage.settings.pairing import Pairing, Rating
from peerage.settings.players.host import HostSettings
from peerage.settings.players.limits import NotNegative, Positive
from peerage.settings.players.player import PlayerSettings
from peerage.settings.until import goal_of
from peerage.values.figures import suggest

LEDGERS = ("sqlite", "postgresql", "mongodb", "mongodb+srv")


class BudgetSettings(SettingsSection):
    """Dollars that may be spent at most; null: no limit."""

    SHORT: ClassVar = "a number of dollars"

    arena: NotNegative | None = Field(None, description="In all, over every run of this arena.")
    match: NotNegative | None = Field(None, description="For one match.")
    player: NotNegative | None = Field(None, description="For each player, over every run.")

    @model_validator(mode="before")
    @classmethod
    def _one_number(cls, value: object) -> object:
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return {"arena": value}
        return value


class Engine(SettingsSection):
    """The driving of matches. `ray` alone, or `local`, is its `kind`."""

    SHORT: ClassVar = "`local`, `ray`"

    kind: Literal["local", "ray"] = Field(
        "local",
        description="Where: `local`, in the process of the run; `ray`, by workers of a Ray cluster, which "
        "wants a ledger on PostgreSQL. The results are the same.",
    )
    address: str = Field(
        "",
        description="The Ray cluster: `HOST:PORT`, or `auto` for that of this machine. Default: "
        "`$RAY_ADDRESS`, or a new one on this machine.",
    )
    workers: int | None = Field(
        None, ge=1, le=10_000, description="Workers under Ray; by default one for each CPU of the cluster."
    )
    concurrency: int = Field(
        8,
        ge=1,
        le=1_000_000,
        description="Matches under way at once (the pairing window caps it); one that only waits for a "
        "failing player gives its place to another.",
    )
    calls: int = Field(64, ge=1, le=1_000_000, description="Calls in flight at once, over all players.")
    retries: int = Field(
        5, ge=0, le=1_000, description="Further attempts after a transient failure; then there is no reply."
    )
    probe: bool = Field(
        True,
        description="Ask each player behind a network one small question before the first match of a run, so "
        "that a wrong key, a misspelled model or a setting it does not take is found before money is spent.",
    )
    match_deadline_s: Positive = Field(3600.0, description="A match that takes longer has no result.")

    @model_validator(mode="before")
    @classmethod
    def _kind_alone(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value


class GameSettings(SettingsSection):
    """One of several games of an arena; a number alone is its weight."""

    SHORT: ClassVar = "a number (its weight)"

    weight: float = Field(
        1.0,
        gt=0,
        le=1_000,
        description="How much it counts in the overall table, and how much of it is played, against the "
        "others.",
    )
    rules: dict[str, Any] = Field(default_factory=dict, description="The game's own settings.")

    @model_validator(mode="before")
    @classmethod
    def _one_number(cls, value: object) -> object:
        if value is None:
            return {}
        return {"weight": value} if isinstance(value, int | float) and not isinstance(value, bool) else value


EVERY = "all"
"""Among the names of games: every one that can be played here."""


READING = {"reading": True}
"""Validated in this context, settings may name a game that is not installed here."""


def _with_games(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Settings whose list of games is a mapping, and whose `game` is the first of several."""
    settings = dict(stated)
    games = settings.get("games")
    if not games:
        return settings
    if isinstance(games, str):
        games = [games]
    if isinstance(games, list | tuple):
        for name in games:
            if not isinstance(name, str):
                raise ValueError(
                    "games: a list holds names alone; for rules or weights write a line for each game, such "
                    "as `duel: 2` or `duel: {rules: {…}, weight: 2}`"
                )
            if games.count(name) > 1:
                raise ValueError(f"games: {name!r} is listed twice")
        settings["games"] = games = dict.fromkeys(games)
    if not isinstance(games, dict):
        return settings
    for key, instead in (("game", "`games`"), ("rules", "the game's own line: `duel: {rules: {…}}`")):
        if settings.get(key) and not (key == "game" and settings[key] in games):
            raise ValueError(f"{key}: with several games, this stands under {instead}; remove it here")
    settings["game"] = next((name for name in map(str, games) if name != EVERY), next(iter(GAMES)))
    return settings


def _preset_of(stated: Mapping[str, Any], game: str) -> object:
    """The preset that the rules of a game name, in settings that nobody has validated yet; None for none."""
    games = stated.get("games")
    alone = games.get(game) if isinstance(games, dict) else stated
    rules = alone.get("rules") if isinstance(alone, dict) else getattr(alone, "rules", None)
    return rules.get("preset") if isinstance(rules, Mapping) else None


class ArenaSettings(SettingsSection):
    """Everything in `arena.yaml`."""

    name: str = Field("arena", description="Title on tables and pages.")
    seed: int | None = Field(
        None,
        ge=-(10**18),
        le=10**18,
        description="For house players alone: all that is drawn follows from it. With other players, who "
        "could know it, the arena draws from a random secret.",
    )
    game: str = Field(
        "duel",
        description="Which game is played; see `peerage games`. Or a Python file that holds one: "
        "`./auction.py`.",
    )
    rules: dict[str, Any] = Field(default_factory=dict, description="The game's own settings.")
    tasks: Any = Field(
        None,
        description="Your own tasks: a file, a list, or a mapping of `file` and rules of the game `tasks`, "
        "which is then what is played.",
    )
    games: dict[str, GameSettings] = Field(
        default_factory=dict,
        description="In place of `game`, several that are played in turn: their names, or each name with its "
        "settings; `all`: every one that can be played here.",
    )
    players: tuple[PlayerSettings, ...] = Field((), description="Who plays; one line each.")
    judges: tuple[PlayerSettings, ...] = Field(
        (),
        description="Who only judges: models or people, one line each, set like players. They never play, "
        "write challenges or have a rating, and their votes weigh the same. Default, `peers`: the players "
        "judge each other.",
    )
    judging: JudgingSettings = Field(
        default_factory=JudgingSettings,
        description="How judges compare two answers, in every game where they do.",
    )
    hosts: dict[str, HostSettings] = Field(
        default_factory=dict,
        description="Machines that are started to serve players and stopped after the last call, by name; "
        "players name theirs as `host`.",
    )
    pairing: Pairing = Field(default_factory=Pairing, description="Who meets whom.")
    rating: Rating = Field(default_factory=Rating, description="Elo, raw and cost.")
    budget: BudgetSettings = Field(
        default_factory=BudgetSettings, description="Dollars at most; a number alone is the arena's."
    )
    until: str | None = Field(
        None,
        description="What a run is to prove, after which it ends: `best known`, `first 3 known`, `order "
        "known to 50` (a wrong order of less than 50 Elo does not matter), `NAME placed`. The budget may "
        "end it sooner. Policy `adaptive` plays for it. Default: nothing; it goes on.",
    )
    engine: Engine = Field(default_factory=Engine, description="Concurrency, retries, deadlines.")
    ledger: str = Field(
        "sqlite:///arena.db",
        description="Where records are kept: a file, relative to this folder; `postgresql://HOST/DATABASE`; "
        "`mongodb://HOST/DATABASE`; or `$DATABASE_URL`, the address in that variable of the environment or "
        "of `.env`.",
    )

    media: MediaSettings = Field(
        default_factory=MediaSettings, description="How large pictures and sounds of your tasks may be."
    )
    _shelf: MediaShelf = PrivateAttr(default_factory=dict[str, bytes])

    @model_validator(mode="before")
    @classmethod
    def _by_game(cls, value: object) -> object:
        """The first of several games, and what it and its preset say about keys of `rating` and `pairing`
        that are not given."""
        if not isinstance(value, dict):
            return value
        value = _with_games(with_tasks(value))
        name = value.get("game", cls.model_fields["game"].default)
        spec = installed(name) if isinstance(name, str) else None
        if spec is None:
            return value
        preset = spec.presets.get(str(_preset_of(value, name)), Preset(""))
        usual = {"pairing": preset.pairing, "rating": {**spec.rating.settings, **preset.rating}}
        filled = {
            key: {**stated, **value.get(key, {})}
            for key, stated in usual.items()
            if stated and isinstance(value.get(key, {}), dict)
        }
        return {**value, **filled}

    @property
    def lineup(self) -> Mapping[str, GameSettings]:
        """Every game that is played, by name; of `all`, every one that is listed."""
        if EVERY in self.games:
            return {name: self.games.get(name, self.games[EVERY]) for name in GAMES}
        return self.games or {self.game: GameSettings(rules=self.rules)}

    def alone(self, game: str) -> ArenaSettings:
        """The same arena with one of its games."""
        rules = self.lineup[game].rules
        return self.model_copy(update={"game": game, "games": {}, "rules": rules})

    @property
    def shelf(self) -> MediaShelf:
        """Return the place of the bytes of pictures and sounds of which rules have marks."""
        return self._shelf

    def beside(self, shelf: MediaShelf) -> ArenaSettings:
        """Return the settings with such a place."""
        settings = self.model_copy()
        settings._shelf = shelf
        return settings

    @property
    def secret_seed(self) -> int | None:
        """The seed from which the arena's secret follows; None where the secret is random."""
        return self.seed if all(player.provider == "house" for player in self.everyone) else None

    @property
    def everyone(self) -> tuple[PlayerSettings, ...]:
        """All who may be asked: those who play, then those who only judge."""
        return self.players + self.judges

    def without(self, names: Collection[str]) -> ArenaSettings:
        """Return the settings without these players and judges."""
        kept = {
            key: tuple([player for player in getattr(self, key) if player.name not in names])
            for key in ("players", "judges")
        }
        return self.model_copy(update=kept)

    @field_validator("game")
    @classmethod
    def _known(cls, value: str, about: ValidationInfo) -> str:
        if value not in GAMES and about.context != READING:
            raise ValueError(f"no game is called {value!r}{suggest(value, candidates(value))}")
        return value

    @field_validator("games", mode="after")
    @classmethod
    def _all_known(cls, value: dict[str, GameSettings], about: ValidationInfo) -> dict[str, GameSettings]:
        for name in value.keys() - {EVERY}:
            cls._known(name, about)
        return value

    @field_validator("judges", mode="before")
    @classmethod
    def _peers(cls, value: object) -> object:
        """No judges for `peers`; a line alone is a list of itself."""
        if value == PEERS or value is None:
            return ()
        if isinstance(value, int):
            raise ValueError(
                f"found {str(value).lower()}; expected `peers`, or a list of models that only judge. How "
                "many judge a match is `judging: {judges: …}`"
            )
        return (value,) if isinstance(value, str) else value

    @field_validator("hosts")
    @classmethod
    def _names(cls, value: dict[str, HostSettings]) -> dict[str, HostSettings]:
        for name in value:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
                raise ValueError(f"{name!r} is no name of a host; use up to 40 letters, digits, - and _")
        return value

    @field_validator("ledger")
    @classmethod
    def _address(cls, value: str) -> str:
        scheme, separator, rest = value.partition("://")
        login, _, host = rest.rpartition("@")
        if ":" in login or "password=" in rest:
            name = "MONGODB_URI" if scheme.startswith("mongodb") else "DATABASE_URL"
            raise ValueError(
                "the address of the ledger holds a password, and this file is for others too; write "
                f"`{name}={scheme}://USER:PASSWORD@{host.partition('?')[0]}` into .env and `ledger: "
                f"${name}` here"
            )
        if scheme not in LEDGERS if separator else not re.fullmatch(r"\$[A-Za-z_]\w*", value):
            raise ValueError(
                f"{value!r} is no address of a ledger; write `sqlite:///arena.db`, "
                "`postgresql://HOST/DATABASE`, `mongodb://HOST/DATABASE`, or `$DATABASE_URL` for the address "
                "in that variable"
            )
        return value

    @model_validator(mode="after")
    def _consistent(self) -> ArenaSettings:
        places: dict[str, int] = {}
        for place, player in enumerate(self.players, 1):
            if player.name in places:
                raise ValueError(
                    f"players {places[player.name]} and {place} are both named {player.name!r}; "
                    "give one of them another `name`"
                )
            if player.name == SANDBOX:
                raise ValueError(
                    f"player {place} is named {SANDBOX!r}, under which programs are recorded; "
                    "give it another `name`"
                )
            places[player.name] = place
        everyone = _of_one_line([*self.players, *_apart(self.judges, places)])
        hosted = tuple([_on_host(player, self.hosts) for player in everyone])
        object.__setattr__(self, "players", hosted[: len(self.players)])
        object.__setattr__(self, "judges", hosted[len(self.players) :])
        if self.players:
            try:
                self.until is None or goal_of(self.until, list(places))
            except ValueError as error:
                raise ValueError(f"until: {error}") from None
        return self

    @property
    def goal(self) -> Goal | None:
        """Return what a run is to find out; None without players, or where it goes on."""
        if self.until is None or not self.players:
            return None
        return goal_of(self.until, [player.name for player in self.players])


PEERS = "peers"
"""In place of a list of judges: the players judge each other."""


def _apart(judges: Sequence[PlayerSettings], players: Collection[str]) -> Iterator[PlayerSettings]:
    """The judges, each under a name that no player has. Raises ValueError."""
    seen: set[str] = set()
    for judge in judges:
        name = judge.name
        if name in players and "name" not in judge.model_fields_set:
            name = f"{name} (judge)"
        if name in players or name in seen or name == SANDBOX:
            raise ValueError(
                f"judges: the name {name!r} is taken{' by a player' * (name in players)}; give the judge "
                "another `name`"
            )
        seen.add(name)
        yield judge if name == judge.name else judge.model_copy(update={"name": name})


def _of_one_line(players: Sequence[PlayerSettings]) -> Iterator[PlayerSettings]:
    """The players; a later version of an agent that is its own family is in that of the first version."""
    first: dict[str, str] = {}
    for player in sorted(players, key=lambda player: player.version):
        first.setdefault(player.unversioned, player.family)
    for player in players:
        family = first[player.unversioned] if player.family == player.public_model else player.family
        yield player if family == player.family else player.model_copy(update={"family": family})


def _on_host(player: PlayerSettings, hosts: Mapping[str, HostSettings]) -> PlayerSettings:
    """A player with the price of its host. Raises ValueError."""
    if not player.host:
        return player
    host = hosts.get(player.host)
    if host is None:
        raise ValueError(
            f"player {player.name!r} has the host {player.host!r}, which `hosts` does not name"
            f"{suggest(player.host, hosts) if hosts else ''}"
        )
    if not host.start and player.provider not in ("gguf", "house"):
        raise ValueError(
            f"hosts.{player.host} does not say how it is started, which only `gguf:` models can do without, "
            f"and serves {player.model!r}; state its `start`"
        )
    return player.model_copy(update={"gpu_hour_price": host.usd_per_hour})
