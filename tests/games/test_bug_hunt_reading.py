"""A second reading of hunts of programs that keep balances: it does what the rules say, by their words
alone, and in another way than the programs. Where a word were missing, or taken in another way, they would
come apart.
"""

import operator
import re
from collections import deque
from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

import pytest

from peerage.games.bug_hunt import commands
from peerage.games.bug_hunt.tasks import buggy
from peerage.games.parts import drawn_part, outputs

WORDS: dict[str, Callable[[Any, Any], bool]] = {
    "greater than": operator.gt,
    "at least": operator.ge,
    "less than": operator.lt,
    "at most": operator.le,
    "equal to": operator.eq,
}
COMPARED = "|".join(WORDS)
NAMES = "abcdef"


class Balances:
    """The state that a reader keeps: balances, and what each rule needs."""

    def __init__(self) -> None:
        self.of = [0] * 6
        self.said: list[str] = []
        self.cap = 0
        self.debiting: tuple[Callable[[Any, Any], bool], str] = (operator.lt, "nothing")
        self.copies: list[list[int]] = []
        self.queue: deque[str] = deque()
        self.links: set[frozenset[str]] = set()
        self.groups = [{name} for name in NAMES]
        self.day = 0
        self.debts: list[list[Any]] = []
        self.bids: list[tuple[str, int]] = []
        self.stack: list[int] = []
        self.field = (0, 0)
        self.dug: set[tuple[int, int]] = set()
        self.notes: list[int] = []
        self.votes: dict[str, str] = {}
        self.shelf: list[str] = []
        self.kept: list[tuple[int, int]] = []
        self.order = list(NAMES)
        self.house: list[str] = []
        self.offers: list[tuple[int, str]] = []

    def __getitem__(self, name: str) -> int:
        return self.of[NAMES.index(name)]

    def __setitem__(self, name: str, value: int) -> None:
        self.of[NAMES.index(name)] = value

    def credit(self, name: str, number: int) -> None:
        after = self[name] + number
        self[name] = min(after, self.cap)

    def debit(self, name: str, number: int) -> int:
        short, instead = self.debiting
        taken = number
        if short(self[name], number):
            taken = {"nothing": 0, "all of it": self[name], "half of it, rounded down,": self[name] // 2}[
                instead
            ]
        self[name] -= taken
        return taken

    def move(self, name: str, other: str, number: int, full: int) -> None:
        taken = self.debit(name, number)
        self.credit(other, taken - taken // full)

    def away(self, name: str) -> dict[str, int]:
        found, ring, steps = {name: 0}, {name}, 0
        while ring:
            steps += 1
            near = {other for other in NAMES for place in ring if frozenset([place, other]) in self.links}
            ring = near - set(found)
            found.update(dict.fromkeys(ring, steps))
        return found


def place(which: str) -> int:
    return {"first": 0, "last": -1}[which]


def at_end(items: list[Any], which: str) -> Any:
    return items[place(which)]


def credit(b: Balances, cap: str) -> dict[str, Any]:
    b.cap = int(cap)
    return {"credit": b.credit}


def debit(b: Balances, word: str, instead: str) -> dict[str, Any]:
    b.debiting = (WORDS[word], instead)
    return {"debit": b.debit}


def move(b: Balances, full: str) -> dict[str, Any]:
    return {"move": lambda name, other, n: b.move(name, other, n, int(full)), "full": int(full)}


def chain(b: Balances, part: str, on: str) -> dict[str, Any]:
    def do(name: str, other: str, n: int) -> None:
        second = {
            "half of N, rounded down,": n // 2,
            "half of N, rounded up,": -(-n // 2),
            "N less 1": n - 1,
        }[part]
        b.move(name, other, n, FULL[0])
        b.move(other, (NAMES + NAMES)[NAMES.index(other) + int(on)], second, FULL[0])

    return {"chain": do}


def copies(b: Balances, most: str, how: str) -> dict[str, Any]:
    def save() -> None:
        b.copies = [*b.copies, b.of[:]][-int(most) :]

    def restore() -> None:
        if b.copies:
            old = b.copies.pop()
            choose: Any = {"that": lambda o, n: o, "the greater": max, "the smaller": min}[
                how.split(" of ")[0]
            ]
            b.of = [choose(was, now) for was, now in zip(old, b.of, strict=True)]

    return {"save": save, "restore": restore}


def queue(b: Balances, again: str, many: str, more: str) -> dict[str, Any]:
    def wait(name: str) -> None:
        if name in b.queue and again == "stays where it is":
            return
        if again == "moves to the end" and name in b.queue:
            b.queue.remove(name)
        b.queue.append(name)

    def serve(n: int) -> None:
        extra = 2 if "two" in more else 1 if "one" in more else 0
        for before in range(min(int(many), len(b.queue))):
            b.credit(b.queue.popleft(), n + extra * before)

    return {"wait": wait, "serve": serve}


def links(b: Balances, most: str, how: str) -> dict[str, Any]:
    def link(name: str, other: str) -> None:
        if name != other:
            b.links.add(frozenset([name, other]))

    def spread(name: str, n: int) -> None:
        own = {"N": n, "N, but A itself with N plus 1": n + 1, "N, but A itself with nothing": 0}[how]
        for other, steps in b.away(name).items():
            if steps <= int(most):
                b.credit(other, own if other == name else n)

    return {"link": link, "spread": spread}


def distance(b: Balances, never: str, what: str) -> dict[str, Any]:
    def do(name: str, other: str) -> None:
        steps = b.away(name).get(other)
        b.said.append(never.removeprefix("the word ") if steps is None else str(steps))
        if steps is not None and {"at least two": steps >= 2, "at least one": steps >= 1}.get(
            what, steps % 2
        ):
            b.credit(other, steps)

    return {"distance": do}


def groups(b: Balances, by: str, who: str) -> dict[str, Any]:
    def join(name: str, other: str) -> None:
        one, two = [next(group for group in b.groups if each in group) for each in (name, other)]
        if one is not two:
            b.groups.remove(two)
            one |= two

    def pool(name: str) -> None:
        group = sorted(next(group for group in b.groups if name in group))
        total = 0
        for each in group:
            own = b[each]
            total += b.debit(each, {"h": own // 2, "a": own // 3, "i": own - 1 if own else 0}[by[0]])
        b.credit(name if who == "A" else at_end(group, who.split()[1]), total)

    return {"join": join, "pool": pool}


def days(b: Balances, every: str, word: str, bound: str) -> dict[str, Any]:
    def do(n: int) -> None:
        for _ in range(n):
            b.day += 1
            for name in NAMES if b.day % int(every) == 0 else "":
                if WORDS[word](b[name], int(bound)):
                    b.credit(name, 1)

    return {"days": do}


def debts(b: Balances, more: str, which: str) -> dict[str, Any]:
    def lend(name: str, other: str, n: int) -> None:
        taken = b.debit(name, n)
        b.credit(other, taken)
        b.debts.append([other, name, taken + int(more)])

    def repay() -> None:
        for debt in b.debts if which == "oldest" else reversed(b.debts):
            paid = b.debit(debt[0], debt[2])
            b.credit(debt[1], paid)
            debt[2] -= paid

    return {"lend": lend, "repay": repay}


def auction(b: Balances, which: str, price: str) -> dict[str, Any]:
    def bid(name: str, n: int) -> None:
        b.bids = [*[(who, own) for who, own in b.bids if who != name], (name, n)]

    def close() -> None:
        if b.bids:
            high = sorted([n for _, n in b.bids], reverse=True)
            winner = at_end([name for name, n in b.bids if n == high[0]], which)
            paid = {"its": high[0], "the second": (high + high)[1], "the lowest": high[-1]}
            b.debit(winner, next(n for words, n in paid.items() if price.startswith(words)))
            b.bids = []

    return {"bid": bid, "close": close}


def stack(b: Balances, what: str, by: str) -> dict[str, Any]:
    def fold() -> None:
        if len(b.stack) > 1:
            *b.stack, y, x = b.stack
            kinds = {
                "sum": x + y,
                "greater": max(x, y),
                "smaller": min(x, y),
                "top": 2 * x,
                "difference": abs(x - y),
            }
            b.stack.append(next(value for word, value in kinds.items() if word in what))

    def pay(name: str) -> None:
        if b.stack:
            b.credit(name, b.stack.pop() % int(by))

    return {"push": lambda n: b.stack.append(n), "fold": fold, "pay": pay}


def board(b: Balances, columns: str, rows: str, what: str) -> dict[str, Any]:
    def go(where: str, n: int) -> None:
        x, y = b.field
        for _ in range(n):
            x, y = {"left": (x - 1, y), "right": (x + 1, y), "up": (x, y - 1), "down": (x, y + 1)}[where]
        b.field = (x % int(columns), y % int(rows))

    def dig(name: str) -> None:
        x, y = b.field
        if b.field not in b.dug:
            kinds = {"sum": x + y, "product": x * y, "greater": max(x, y), "twice": 2 * x + y}
            b.credit(name, next(value for word, value in kinds.items() if word in what))
            b.dug.add(b.field)

    return {"go": go, "dig": dig}


def notes(b: Balances, what: str, word: str) -> dict[str, Any]:
    def note() -> None:
        kinds = {"sum": sum(b.of), "greatest": max(b.of), "how many": sum(map(bool, b.of))}
        b.notes.append(next(value for words, value in kinds.items() if words in what))

    def trend() -> None:
        cuts = range(len(b.notes) + 1)
        runs = [b.notes[i:j] for i, j in combinations(cuts, 2)]
        fitting = [run for run in runs if all(map(WORDS[word], run[1:], run))]
        b.said.append(str(max(map(len, fitting), default=0)))

    return {"note": note, "trend": trend}


def charge(b: Balances, first: str, further: str, what: str) -> dict[str, Any]:
    def do(name: str, n: int) -> None:
        price = sum(1 if piece <= int(first) else int(further) for piece in range(1, n + 1))
        if b.debit(name, price) == price:
            paid = {"1": 1, "half of the price, rounded down": price // 2, "N": n}[what]
            b.credit("bcdefa"[NAMES.index(name)], paid)

    return {"charge": do}


def votes(b: Balances, which: str, each: str) -> dict[str, Any]:
    def elect() -> None:
        if b.votes:
            counts = {name: sum(given == name for given in b.votes.values()) for name in NAMES}
            winner = at_end([name for name in NAMES if counts[name] == max(counts.values())], which)
            b.credit(winner, int(each) * counts[winner])
            b.votes = {}

    return {"vote": lambda name, other: b.votes.update({name: other}), "elect": elect}


def shelf(b: Balances, by: str, most: str, who: str) -> dict[str, Any]:
    def touch(name: str) -> None:
        if name not in b.shelf:
            b.debit(name, int(by))
        b.shelf = [name, *[other for other in b.shelf if other != name]]
        if len(b.shelf) > int(most):
            leaves = {"the last": b.shelf[-1], "the second": b.shelf[1]}.get(who, min(b.shelf[1:]))
            b.shelf = [other for other in b.shelf if other != leaves]

    return {"touch": touch}


def bookings(b: Balances, apart: str, each: str) -> dict[str, Any]:
    def book(name: str, start: int, many: int) -> None:
        if all(start - end >= int(apart) or begin - start - many >= int(apart) for begin, end in b.kept):
            b.kept.append((start, start + many))
            b.debit(name, int(each) * many)

    return {"book": book}


def choice(b: Balances, word: str, what: str) -> dict[str, Any]:
    def pick(name: str, n: int) -> None:
        others = [b[other] for other in NAMES if other != name]
        sums = [sum(some) for size in range(6) for some in combinations(others, size)]
        best = max(each for each in sums if WORDS[word](each, n))
        b.said.append(str(best))
        kinds = {"half of it, rounded down": best // 2, "half of it, rounded up": -(-best // 2)}
        b.credit(name, kinds.get(what, n - best))

    return {"pick": pick}


def words(b: Balances, which: str, by: str, most: str) -> dict[str, Any]:
    def spell(word: str) -> None:
        total = 0
        for letter in word if which == "first" else reversed(word):
            total = (total * int(by) + "abcdefghijklmnopqrstuvwxyz".index(letter) + 1) % 31
        b.credit(NAMES[total % 6], total % int(most))

    return {"spell": spell}


def order(b: Balances, which: str, many: str) -> dict[str, Any]:
    def turn(n: int) -> None:
        for _ in range(n):
            b.order = (
                [*b.order[1:], b.order[0]] if which.startswith("first") else [b.order[-1], *b.order[:-1]]
            )

    def reward(n: int) -> None:
        for name in b.order[: int(many)]:
            b.credit(name, n)
        first, *rest, last = b.order
        b.order = [last, *rest, first]

    return {"turn": turn, "reward": reward}


def house(b: Balances, which: str, each: str) -> dict[str, Any]:
    def leave() -> None:
        if b.house:
            name = b.house.pop(place(which))
            b.credit(name, int(each) * len(b.house))

    return {"enter": lambda name: b.house.append(name), "leave": leave}


def rank(b: Balances, word: str, bound: str, which: str) -> dict[str, Any]:
    def do() -> None:
        sign = -1 if which == "greatest" else 1
        chosen = sorted((sign * b[name], name) for name in NAMES if WORDS[word](b[name], int(bound)))
        b.said.append("".join(name for _, name in chosen) or "none")

    return {"rank": do}


def middle(b: Balances, which: str, word: str, by: str) -> dict[str, Any]:
    def do() -> None:
        value = sorted(b.of)[["second", "third", "fourth", "fifth"].index(which) + 1]
        b.said.append(str(value))
        for name in NAMES:
            if WORDS[word](b[name], value):
                b.credit(name, int(by))

    return {"middle": do}


def tax(b: Balances, way: str, which: str) -> dict[str, Any]:
    def do(n: int) -> None:
        taken = 0
        for name in NAMES:
            whole, rest = divmod(b[name], n)
            taken += b.debit(name, whole + (way == "up" and rest > 0))
        b.credit(at_end([name for name in NAMES if b[name] == min(b.of)], which), taken)

    return {"tax": do}


def swap(b: Balances, word: str, by: str) -> dict[str, Any]:
    def do(name: str, other: str) -> None:
        if WORDS[word](b[name], b[other]):
            b[name], b[other] = b[other], b[name]
        else:
            b.credit(name, int(by))

    return {"swap": do}


def shares(b: Balances, word: str, bound: str) -> dict[str, Any]:
    def share(name: str, n: int) -> None:
        taken = b.debit(name, n)
        others = [other for other in NAMES if other != name and WORDS[word](b[other], int(bound))]
        for other in others:
            b.credit(other, taken // len(others))
        b.credit(name, taken - taken // len(others) * len(others) if others else taken)

    return {"share": share}


def deals(b: Balances, which: str, word: str) -> dict[str, Any]:
    def demand(n: int) -> None:
        cheap = [offer for offer in b.offers if offer[0] == min(b.offers)[0]]
        if cheap and WORDS[word](cheap[0][0], n):
            best = at_end([at for at, offer in enumerate(b.offers) if offer[0] == cheap[0][0]], which)
            price, name = b.offers.pop(best)
            b.credit(name, price)
        else:
            b.said.append(str(len(b.offers)))

    return {"offer": lambda name, n: b.offers.append((n, name)), "demand": demand}


FULL = [1]
RULES: dict[str, Callable[..., dict[str, Any]]] = {
    r"credit A N: add N to the balance of A; a balance above (\d+) becomes \1\. .*": credit,
    rf"debit A N: take N from .* where the balance is ({COMPARED}) N, take (.*)\. Rules .*": debit,
    r"move A B N: debit A by N, then credit B with what was taken, less one for every full (\d+) .*": move,
    r"chain A B N: move N from A to B, then (.*) from B to the account (\d) places after B in .*": chain,
    r"save: .* more than (\d) copies the oldest is dropped\. restore: .* to (.*); without .*": copies,
    r"wait A: .* already, it (.*)\. serve N: the first (\d) in .* in turn, each with N(.*)\.": queue,
    r"link A B: .* over at most (\d) links, each with (.*)\.": links,
    r"distance A B: .* or (.*) where none do; where B is (.*?) links away, credit it .*": distance,
    r"join A B: .* account of A's group by (.*), in alph.*, then credit (.*) with the sum .*": groups,
    rf"days N: .* multiple of (\d), credit every account whose balance is ({COMPARED}) (\d+) with 1\.": days,
    r"lend A B N: .* B owes A what was taken and (\d) more\. repay: .* all debts, the (\w+) first: .*": debts,
    r"bid A N: .* ones the one made (\w+); its account is debited by (.*), and all bids .*": auction,
    r"push N: .* off the stack and put (.*) on top; .* remainder when divided by (\d+); .*": stack,
    r"go D N: .* on a board of (\d) columns and (\d) rows .* dig A: .* with (.*) of the marker's .*": board,
    rf"note: write down (.*)\. trend: .* in which each is ({COMPARED}) the one .*": notes,
    r"charge A N: .* of the first (\d) and (\d) for each further one; .* \(after f: a\) with (.*)\.": charge,
    r"vote A B: .* of equal ones the (\w+) in the alphabet, is credited with (\d) for each .*": votes,
    r"touch A: .* debited by (\d); when there are more than (\d) on the shelf then, (.*) leaves it\.": shelf,
    r"book A N M: .* at least (\d) hours lie .* debited by (\d) for each of .*": bookings,
    rf"pick A N: .* as possible but ({COMPARED}) N; print that sum, and credit A with (.*)\.": choice,
    r"spell W: .* from the (\w+) on, multiply by (\d), .* result's remainder when divided by (\d+)\.": words,
    r"turn N: .* times: move the (.*)\. reward N: credit each of the first (\d) accounts .*": order,
    r"enter A: .* the one that entered (\w+) leaves it, once, and is credited with (\d) for each .*": house,
    rf"rank: .* balance is ({COMPARED}) (\d+) as one word, the (\w+) balance first, .*": rank,
    rf"middle: .* print the (\w+); then credit .* with a balance ({COMPARED}) what .* with (\d)\.": middle,
    r"tax N: .* divided by N, rounded (\w+); .* of equal ones the (\w+) in the alphabet, .*": tax,
    rf"swap A B: where the balance of A is ({COMPARED}) that of B, .* else credit A with (\d)\.": swap,
    rf"share A N: .* other accounts with a balance ({COMPARED}) (\d+) as it is then: .*": shares,
    rf"offer A N: .* the one made (\w+), is taken away where its price is ({COMPARED}) N, .*": deals,
}
seen: set[str] = set()


def follow(statement: str, given: str) -> str:
    balances, do = Balances(), dict[str, Any]()
    for rule in statement.split("\n- ")[1:]:
        [(says, reads, found)] = [
            (says, reads, found.groups())
            for says, reads in RULES.items()
            if (found := re.fullmatch(says, rule))
        ]
        seen.add(says)
        do |= reads(balances, *found)
    FULL[0] = do.get("full", 1)
    count, *lines = given.split("\n")
    assert len(lines) == int(count)
    for line in lines:
        command, *arguments = line.split()
        do[command](*[int(word) if word.isdigit() else word for word in arguments])
    return "\n".join([*balances.said, " ".join(map(str, balances.of))])


@pytest.mark.parametrize("level", [5, 7, 10])
def test_a_reader_of_the_rules_prints_what_the_tests_want(level: int) -> None:
    for seed in range(20):
        task = buggy(Random(f"read/{seed}"), level)
        for given, wanted in task.tests:
            assert follow(task.statement, given) == wanted, f"{task.statement}\n{given}"


def test_every_rule_is_read_and_done_as_programs_do_it() -> None:
    rng = Random("rules")
    for _ in range(60):
        parts = [drawn_part(name, kind, rng) for name, kind in commands.KINDS.items()]
        inputs = [commands.line(rng, parts) for _ in range(12)]
        statement = commands.statement(parts)
        printed = outputs(commands.FAMILY.program(parts), inputs)
        for given, wanted in zip(inputs, printed, strict=True):
            assert follow(statement, given) == wanted, f"{statement}\n{given}"
    assert seen == {*RULES}
