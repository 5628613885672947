"""Werewolf: a few of the players are werewolves and know each other; the others have to find them.

    A, C    > {"reason": "B was quick to accuse me", "kill": "B"}        (night/1/kill/1/A, …/C)
    D       > {"reason": "…", "look": "A"}                               (night/1/look/D)
    E       > {"reason": "…", "protect": "D"}                            (night/1/protect/E)
    A, C, … > "I was asleep. What about D?"                              (day/1/talk/1/A, …)
    A, C, … > {"reason": "…", "vote": "D"}                               (day/1/vote/A, …)

A reply that cannot be used, or is refused, is silence or a choice of nobody. Whose provider fails says
nothing from then on and is unranked; when nobody is left to answer on one side, the match has no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from peerage.game import (
    Ask,
    Chosen,
    Demo,
    Fixture,
    Format,
    GameSpec,
    GameTable,
    Outcome,
    Prompt,
    Quote,
    Reply,
    Seating,
    Secrecy,
    Steps,
    Text,
    Voided,
    by_rank,
    texts,
)
from peerage.games.werewolf.house import Scene, house
from peerage.games.werewolf.rules import (
    NOBODY,
    ONE,
    PACK_ROUNDS,
    SIDES,
    SPEECH_CHARS,
    WerewolfRules,
    asks,
    choice,
    draw,
    side,
    system,
    terms,
)
from peerage.games.werewolf.rules import parts as dealt
from peerage.games.werewolf.show import show


class Happening(NamedTuple):
    """Something that happened, and the seats that may know of it."""

    what: str | Quote
    by: Collection[str]


class Village:
    """A match under way: who lives, what happened, who may know it."""

    def __init__(self, table: GameTable) -> None:
        fixture = Fixture(
            number=0,
            round=0,
            game="",
            version=0,
            seed="",
            seats=table.seats,
            officials={},
            settings={},
            drawn=table.drawn,
        )
        self.rules: WerewolfRules = table.rules
        self.parts = dealt(self.rules, fixture)
        self.living = list(self.parts)
        self.left: dict[str, int] = {}
        self.lost: dict[str, None] = {}
        self.events: list[dict[str, Any]] = []
        self.scene = Scene(self.pack, {}, {})
        self._systems = {part: system(self.rules, part) for part in {*self.parts.values()}}
        self._own, self._terms = texts(__package__, self.rules.texts), terms(self.rules, len(table.seats))
        self._known: list[Happening] = []

    @property
    def pack(self) -> list[str]:
        """The living werewolves."""
        return [label for label in self.living if self.parts[label] == "werewolf"]

    @property
    def won(self) -> str:
        """The side that has won; empty while neither has. Raises Voided when a side that lives on has nobody
        left who can be asked."""
        pack, others = self.pack, [label for label in self.living if self.parts[label] != "werewolf"]
        if not pack or len(pack) >= len(others):
            return "wolves" if pack else "village"
        if not (self.able(pack) and self.able(others)):
            raise Voided("no_answer")
        return ""

    def able(self, labels: Iterable[str]) -> list[str]:
        """The players among them that live and can be asked."""
        return [label for label in labels if label in self.living and label not in self.lost]

    def others(self, label: str) -> tuple[str, ...]:
        """Everybody else who lives."""
        return tuple([other for other in self.living if other != label])

    def ask(self, label: str, key: str, question: str, expects: Format, **more: str) -> Ask:
        """A question to a seat, by the name of its text, after all that it knows."""
        known = [fact.what for fact in self._known if label in fact.by]
        history = (
            "\n".join([self._own["history"], *[f"{{e{at}}}" for at in range(len(known))], "", ""])
            if known
            else ""
        )
        mates = [other for other, part in self.parts.items() if part == "werewolf" and other != label]
        prompt = Prompt(self._systems[self.parts[label]], f"{history}{self._own[question]}\n{{format}}")
        fill: dict[str, str | Quote] = {
            **self._terms,
            "me": label,
            "mates": f"The other werewolves: {', '.join(mates)}." if mates else "There is no other werewolf.",
            "living": ", ".join(self.living),
            **more,
            **{f"e{at}": what for at, what in enumerate(known)},
        }
        oracle = self.scene.of(label, self.parts[label], self.living)
        return prompt.ask(label, f"{key}/{label}", expects, fill, self.rules.max_tokens, oracle=oracle)

    def choose(
        self, label: str, key: str, question: str, field: str, among: Sequence[str], **fill: str
    ) -> Ask:
        """A choice of a player that a seat is asked for."""
        return self.ask(label, key, question, choice(self.rules, field, tuple(among)), **fill)

    def took(self, ask: Ask, reply: Reply) -> str:
        """Return whom a reply chose, empty for nobody; a provider that failed is noted."""
        self._note_lost(ask.to, reply)
        chosen = reply.value.choice if reply.ok and isinstance(reply.value, Chosen) else ""
        return "" if chosen == NOBODY else chosen

    def _note_lost(self, label: str, reply: Reply) -> None:
        if reply.status == "void":
            self.lost[label] = None

    def heard(self, ask: Ask, reply: Reply, when: str) -> None:
        """Return what a seat said aloud, or that it said nothing."""
        self._note_lost(ask.to, reply)
        self.scene.claims[ask.to] = reply.hidden if reply.ok else None
        if reply.ok:
            self.tell(Quote.of(f"player {ask.to}, {when}", reply, SPEECH_CHARS))
        else:
            self.tell(f"Player {ask.to} said nothing.")

    def tell(self, what: str | Quote, to: Collection[str] | None = None) -> None:
        """Let some seats know of something; all, where none are named."""
        self._known.append(Happening(what, self.parts if to is None else to))

    def leaves(self, label: str, time: int) -> None:
        """A player is dead or out."""
        self.living.remove(label)
        self.left[label] = time

    def event(self, kind: str, **facts: Any) -> None:
        """Put on record what happened."""
        self.events.append({"event": kind, **facts})


def play(table: GameTable) -> Steps[Outcome]:
    """A match of all seats of `table`."""
    village = Village(table)
    detail = {"roles": village.parts, "left": village.left, "events": village.events}
    try:
        won = yield from nights_and_days(village)
    except Voided as void:
        return Outcome(void=str(void), detail=detail)
    last = 2 * village.rules.days + 1
    ranked = {
        label: ((part == "werewolf") == (won == "wolves"), village.left.get(label, last))
        for label, part in village.parts.items()
        if label not in village.lost
    }
    if len(ranked) < 2:
        return Outcome(void="no_answer", detail=detail)
    return Outcome(scores=by_rank(ranked), detail={"won": won, **detail})


def nights_and_days(village: Village) -> Steps[str]:
    """Play until a side has won; return which."""
    protected = ""
    for day in range(1, village.rules.days + 1):
        protected = yield from night(village, day, protected)
        if won := village.won:
            return won
        yield from talk(village, day)
        yield from vote(village, day)
        if won := village.won:
            return won
    return "wolves"


def night(village: Village, day: int, before: str) -> Steps[str]:
    """A night: who is killed, looked at, protected. Returns whom the doctor protected."""
    at, first = str(day), day == 1  # nobody knows anything then: a kill would be chance
    pack = [] if first else village.able(village.pack)
    by_part = {village.parts[label]: label for label in village.able(village.parts)}
    seer, doctor = by_part.get("seer", ""), "" if first else by_part.get("doctor", "")
    prey = [label for label in village.living if village.parts[label] != "werewolf"]
    tells = (
        "the other werewolves learn your reason." if len(village.pack) > 1 else "nobody learns your reason."
    )
    hunts = [
        village.choose(wolf, f"night/{day}/kill/1", "hunt", "kill", prey, day=at, pack=tells) for wolf in pack
    ]
    others = []
    if seer:
        may = village.others(seer)
        others.append(village.choose(seer, f"night/{day}/look", "look", "look", may, day=at))
    if doctor:
        may = tuple([label for label in village.living if label != before])
        again = f" Not {before} again." if before in village.living else ""
        key = f"night/{day}/protect"
        others.append(village.choose(doctor, key, "protect", "protect", may, day=at, not_again=again))
    replies = yield [*hunts, *others]
    named = whispered(village, f"night {day}", hunts, replies)
    for once_more in range(2, PACK_ROUNDS + 1):
        if len(hunts) < 2 or len({*named.values()}) < 2:
            break
        key = f"night/{day}/kill/{once_more}"
        hunts = [
            village.choose(wolf, key, "hunt", "kill", prey, day=at, pack=tells)
            for wolf in village.able(village.pack)
        ]
        named = whispered(village, f"night {day}, asked again", hunts, (yield hunts))
    votes = Counter(filter(None, named.values()))
    # The dict has the choices in the order of letters: between equals the first of them counts.
    victim = max(votes, key=lambda label: votes[label], default="")
    looked: dict[str, Any] = {}
    safe = ""
    for ask, reply in zip(others, replies[len(replies) - len(others) :], strict=True):
        chosen = village.took(ask, reply)
        if ask.to == seer and chosen:
            wolf = village.parts[chosen] == "werewolf"
            looked = {"seer": seer, "player": chosen, "wolf": wolf}
            village.scene.looked[chosen] = wolf
            learnt = "a werewolf" if wolf else "no werewolf"
            village.tell(f"Night {day}: you learned that player {chosen} is {learnt}.", [seer])
        elif ask.to == doctor and chosen:
            safe = chosen
            village.tell(f"Night {day}: you protected player {chosen}.", [doctor])
    saved = bool(victim) and victim == safe
    if victim:
        village.tell(f"Night {day}: the werewolves chose player {victim}.", village.pack)
    if victim and not saved:
        village.leaves(victim, 2 * day - 1)
        village.tell(f"Morning {day}: player {victim} is dead, and was {ONE[village.parts[victim]]}.")
    elif not first:
        village.tell(f"Morning {day}: nobody died.")
    dead = victim if victim and not saved else ""
    village.event("night", day=day, chose=named, victim=victim, dead=dead, looked=looked, protected=safe)
    return safe


def whispered(village: Village, when: str, hunts: Sequence[Ask], replies: Sequence[Reply]) -> dict[str, str]:
    """Return whom each werewolf chose to kill; all of them know it from now on."""
    named: dict[str, str] = {}
    for ask, reply in zip(hunts, replies, strict=False):
        named[ask.to] = village.took(ask, reply)
        if len(village.pack) > 1:
            village.tell(
                f"{when.capitalize()}: werewolf {ask.to} chose {named[ask.to] or NOBODY}.", village.pack
            )
            if reply.ok and reply.value.reason.strip():
                village.tell(Quote(f"werewolf {ask.to}, {when}", reply.value.reason), village.pack)
    return named


def talk(village: Village, day: int) -> Steps[None]:
    """The rounds of talk before a vote."""
    rules, expects = village.rules, Text(SPEECH_CHARS)
    for turn in range(1, rules.talk + 1):
        fill = {"day": str(day), "turn": ", for the last time before the vote" if turn == rules.talk else ""}
        key = f"day/{day}/talk/{turn}"
        asked = [village.ask(label, key, "speak", expects, **fill) for label in village.able(village.parts)]
        for ask, reply in zip(asked, (yield asked), strict=True):
            village.heard(ask, reply, f"day {day}" + (f", round {turn}" if rules.talk > 1 else ""))


def vote(village: Village, day: int) -> Steps[None]:
    """The vote of a day; who gets most, alone, is out."""
    key = f"day/{day}/vote"
    asked = [
        village.choose(label, key, "vote", "vote", [*village.others(label), NOBODY], day=str(day))
        for label in village.able(village.parts)
    ]
    replies = yield asked
    votes = {ask.to: village.took(ask, reply) for ask, reply in zip(asked, replies, strict=True)}
    cast = "; ".join(f"{voter} for {named or NOBODY}" for voter, named in votes.items())
    counted = Counter(filter(None, votes.values())).most_common()
    out = counted[0][0] if counted and (len(counted) < 2 or counted[0][1] > counted[1][1]) else ""
    end = f"Player {out} is out, and was {ONE[village.parts[out]]}." if out else "Nobody is out."
    village.tell(f"The votes of day {day}: {cast}. {end}")
    if out:
        village.leaves(out, 2 * day)
    village.event("vote", day=day, votes=votes, out=out)


GAME: GameSpec[WerewolfRules] = GameSpec(
    name="werewolf",
    version=7,
    texts=__package__,
    about="Hidden werewolves kill by night, the village votes by day; the side that is left wins.",
    contestants=(5, 10),
    rules=WerewolfRules,
    play=play,
    draw=draw,
    asks=asks,
    converses=lambda rules: True,
    survives=True,
    seating=Seating(rotates=lambda rules: True, series=lambda rules: True, sides=SIDES, side=side),
    secrecy=Secrecy(hides=True, unshown=("dealt",)),
    house=house,
    show=show,
    demo=Demo(120),
)
