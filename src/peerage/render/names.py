"""Names of players as people read them: short, and unique among all players of an arena. Pure.

    names = Names(["openrouter:anthropic/claude-opus-4.5", "house:0.9"], providers=["openrouter"])
    names.of("openrouter:anthropic/claude-opus-4.5")   # claude-opus-4.5 of the maker anthropic

Data, exports and addresses have whole names; pages, terminals and charts write them short.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class ShortName(NamedTuple):
    """A name without provider and maker, and its `maker`, or else its provider; empty without either."""

    short: str
    maker: str = ""


_PATH = r"((?:[a-z0-9][\w.@+-]*/)*)([\w.@:+-]*[a-z][\w.@:+-]*)( v\d+)?"
_TYPED = re.compile("(`[^`]*`)")
_LEAST = 3  # characters that a short name has at least: `team/b` stays as it is


class Names:
    """The short names of some players. `providers` are the prefixes (`openai:`) that say where a model is
    reached. A name of another form, as people give, stays as it is."""

    def __init__(self, players: Iterable[str] = (), providers: Iterable[str] = ()) -> None:
        form = re.compile(rf"(?:({'|'.join(map(re.escape, providers))}):)?{_PATH}", re.ASCII | re.IGNORECASE)
        makers, self._forms = dict[str, str](), dict[str, list[str]]()
        for name in dict.fromkeys(players):
            found = form.fullmatch(name)
            provider, path, last, version = found.groups("") if found else ("", "", "", "")
            makers[name] = path.rstrip("/").rpartition("/")[2] or provider
            parts = [*path.split("/")[:-1], f"{last}{version}"] if makers[name] else []
            tails = ["/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1)]
            self._forms[name] = [*dict.fromkeys([*(one for one in tails if len(one) >= _LEAST), name])]
        taken = Counter([each.casefold() for forms in self._forms.values() for each in forms])
        self._short = {
            name: ShortName(short, makers[name] if short == forms[0] else "")
            for name, forms in self._forms.items()
            if (short := next((one for one in forms if taken[one.casefold()] == 1), name)) != name
        }
        longest = sorted(self._short, key=len, reverse=True)
        any_of = "|".join(map(re.escape, longest))
        # A name ends where no further part of a longer one follows; a full stop may.
        self._within = re.compile(rf"(?<![\w/:.@+-])(?:{any_of})(?![\w/@+-]|[.:]\w)") if longest else None

    def of(self, name: str) -> ShortName:
        """Return the short form of a name."""
        return self._short.get(name) or ShortName(name)

    def short(self, name: str) -> str:
        """Return a name as people read it."""
        return self.of(name).short

    def in_text(self, text: str) -> str:
        """Return a sentence with short names, but for what stands between “ and the last ”, others' words,
        and between backticks: commands, as they are typed, and names that are meant to be whole."""
        if self._within is None:
            return text
        begin, end = text.find("“"), text.rfind("”") + 1
        if 0 <= begin < end:
            return f"{self.in_text(text[:begin])}{text[begin:end]}{self.in_text(text[end:])}"
        parts = _TYPED.split(text)
        parts[::2] = [self._within.sub(lambda found: self.short(found[0]), part) for part in parts[::2]]
        return "".join(parts)

    def meant(self, given: str) -> list[str]:
        """Return the players that somebody may mean who writes a name whole or short."""
        if given in self._forms:
            return [given]
        wanted = given.casefold()
        return [name for name, forms in self._forms.items() if wanted in map(str.casefold, forms)]

    def whole(self, given: str) -> str:
        """Return the one player whom somebody means; what was given where that is none, or any of several."""
        meant = self.meant(given)
        return meant[0] if len(meant) == 1 else given


AS_THEY_ARE = Names()
