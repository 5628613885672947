"""House players: players of known skill, for demos, tests and simulations.

`house:0.85` answers, drafts, votes and judges in the same text formats as models, through the same door. What
it says is a pure function of its settings and of the call's seed and key, so every attempt and every resume
gives the same reply. Its skill, from 0 to 1, is the mean of the hidden quality of what it writes (standard
deviation `SPREAD`), and it makes the player a more discerning judge. Latency is virtual: drawn, never waited
for. Tokens are counted at four characters each.

Faults are probabilities per reply (`faults:` in the player's settings): slow, refusing, malformed, failing,
and for judges position_bias and self_preference. A repair is asked under a key of its own but finds the
same fault again.
"""

from __future__ import annotations

from hashlib import blake2b
from math import exp
from random import Random
from statistics import NormalDist
from struct import Struct as Layout
from typing import Any

from msgspec.structs import replace

from peerage.formats import Questions, Score, Scores, TaskDraft
from peerage.formats.scores import MOST
from peerage.players import house_arena as arena
from peerage.players import house_code as code
from peerage.players import house_colors as colors
from peerage.players import house_exchange as agent_protocol
from peerage.players import house_texts as texts
from peerage.players.client import Answer, Call, PlayerError
from peerage.protocol import Choice, Code, Color, Encoding, Integer, Proposal, Text, WithTool
from peerage.settings import PlayerSettings

SPREAD, DRAFT_SPREAD = 0.12, 0.25
"""Standard deviation of hidden quality around the player's skill, in answers and in drafts."""
BLUR_BEST, BLUR_WORST = 0.03, 0.30
"""Standard deviation of a judge's error in comparing two qualities, at skill 1 and at skill 0."""
TIE_BAND = 0.04
"""Differences of quality that a judge calls a tie when it may."""
PASSABLE = 0.3
"""Quality, as a committee member sees it, from which it approves a draft."""
MEDIAN_SECONDS, SIGMA_LATENCY = 2.0, 0.8
"""Latency is log-normal; `slow` makes it `SLOW` times as long."""
SLOW = 20.0
CHARS_PER_TOKEN = 4

_normal = NormalDist().inv_cdf
_sixteen = Layout("<16I").unpack
_UNIT = 2.0**-32


class HouseClient:
    """The client of one house player; implements `Client` and `InstantClient`."""

    def __init__(self, settings: PlayerSettings) -> None:
        self.skill = float(settings.model.partition(":")[2])
        self._family = settings.family
        self._faults = settings.faults
        self._faultless = not any(settings.faults.model_dump().values())
        self._person = f"\0{settings.name}\0{settings.model}".encode()
        self._system_chars = len(settings.system_prompt)
        # strict or generous, whatever is judged: drawn once for each player
        self._severity = arena.SEVERITY * (2 * blake2b(self._person).digest()[0] / 255 - 1)

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, call: Call) -> Answer:
        """`answer_now`, for callers that treat every player alike."""
        return self.answer_now(call)

    async def close(self) -> None:
        """Nothing to release."""

    def answer_now(self, call: Call) -> Answer:
        """The reply to a call. Raises PlayerError when the `failing` fault strikes, or for a kind of reply
        that house players do not know."""
        key = call.key.partition("~")[0]
        draws = _sixteen(blake2b(f"{call.seed}\0{key}".encode() + self._person).digest())
        seconds = MEDIAN_SECONDS * exp(SIGMA_LATENCY * _normal((draws[0] + 0.5) * _UNIT))
        refused = malformed = False
        if not self._faultless:
            faults = self._faults
            if draws[1] * _UNIT < faults.failing:
                raise PlayerError(
                    f"house player {call.key}: the provider is down (its `failing` fault, not a real failure)"
                )
            if draws[2] * _UNIT < faults.slow:
                seconds *= SLOW
            refused = draws[3] * _UNIT < faults.refusing
            malformed = draws[4] * _UNIT < faults.malformed
        hidden = None
        expects = call.expects
        tries = isinstance(expects, WithTool) and code.tries(key, self.skill)
        if isinstance(expects, WithTool) and not tries:
            call = replace(call, expects=expects.answer)
            expects = call.expects
        if refused:
            text = _pick(texts.REFUSALS, draws[8])
        elif tries:
            text = _pick(texts.RAMBLES, draws[8]) if malformed else code.TRIED
        elif isinstance(expects, Text):
            spread = DRAFT_SPREAD if call.role == "author" else SPREAD
            quality = self.skill + spread * _normal((draws[5] + 0.5) * _UNIT)
            hidden = {"quality": round(quality, 4), "family": self._family}
            if malformed:
                text = " \n"
            elif call.role == "author":
                text = _draft(call, draws)
            else:
                text = _essay(_subject(call), quality, draws)
        elif isinstance(expects, Choice):
            text = _pick(texts.RAMBLES, draws[8]) if malformed else self._choose(call, expects, draws)
        elif isinstance(expects, Encoding | Color):
            text, hidden = self._color(call, draws)
            if malformed:
                text, hidden = _pick(texts.RAMBLES, draws[8]), None
        elif isinstance(expects, Code | TaskDraft):
            quality = self.skill + SPREAD * _normal((draws[5] + 0.5) * _UNIT)
            oracle: dict[str, Any] = call.oracle if isinstance(call.oracle, dict) else {}
            if isinstance(expects, Code):
                text = code.program(oracle.get("programs"), quality, draws)
            else:
                text = code.draft(oracle.get("draft"), quality, draws)
            if malformed:
                text = _pick(texts.RAMBLES, draws[8])
        elif isinstance(expects, Questions | Score | Scores):
            text, hidden = self._tournament(call, draws)
            if malformed:
                text, hidden = _pick(texts.RAMBLES, draws[8]), None
        elif isinstance(expects, Proposal | Integer):
            text, hidden = self._exchange(call, draws)
            if malformed:
                text, hidden = _pick(texts.RAMBLES, draws[8]), None
        else:
            raise PlayerError(
                f"house players do not know replies of the kind {type(expects).__name__}", kind="request"
            )
        most = call.max_tokens * CHARS_PER_TOKEN
        truncated = len(text) > most
        if truncated:
            if isinstance(expects, Text) and hidden is not None:  # half of an answer is no half of its worth
                hidden = {**hidden, "quality": round(hidden["quality"] * (most / len(text)) ** 0.5, 4)}
            text = text[:most]
        asked = self._system_chars
        for _, said in call.messages:
            asked += len(said)
        return Answer(
            text,
            seconds,
            asked // CHARS_PER_TOKEN + 1,
            -(-len(text) // CHARS_PER_TOKEN),
            None,
            "house",
            refused,
            truncated,
            hidden,
        )

    def _tournament(self, call: Call, draws: tuple[int, ...]) -> tuple[str, Any]:
        """Questions with what each is worth, or points for what others wrote."""
        oracle: dict[str, Any] = call.oracle if isinstance(call.oracle, dict) else {}
        expects = call.expects
        if isinstance(expects, Questions):
            categories = oracle.get("categories") or [""]
            return arena.questions(
                oracle.get("sort", ""), categories, self.skill, DRAFT_SPREAD, self._family, draws
            )
        assert isinstance(expects, Score | Scores)
        many = isinstance(expects, Scores)
        items = oracle.get("items") or [None] * (expects.count if isinstance(expects, Scores) else 1)
        blur = BLUR_WORST + (BLUR_BEST - BLUR_WORST) * self.skill
        rng = Random(draws[5])
        given = [arena.points(_quality(item), rng.gauss(0, blur), self._severity) for item in items]
        if not self._faultless:
            kin = [_family(item) == self._family for item in items]
            favours = draws[10] * _UNIT < self._faults.self_preference
            given = [MOST if mine and favours else one for mine, one in zip(kin, given, strict=True)]
        return arena.scored(given, expects.criteria, expects.explain, many, draws), None

    def _exchange(self, call: Call, draws: tuple[int, ...]) -> tuple[str, Any]:
        """What is said in the challenge exchange, and the hidden quality of a challenge."""
        luck = _normal((draws[5] + 0.5) * _UNIT)
        if call.role == "author" and isinstance(call.expects, Proposal):
            quality = self.skill + DRAFT_SPREAD * luck
            hidden = {"quality": round(quality, 4), "family": self._family}
            return agent_protocol.challenge(self.skill, quality, draws), hidden
        oracle: dict[str, Any] = call.oracle if isinstance(call.oracle, dict) else {}
        form = self.skill + SPREAD * luck
        return agent_protocol.solve(oracle.get("description", ""), oracle.get("answer"), form, draws), None

    def _color(self, call: Call, draws: tuple[int, ...]) -> tuple[str, Any]:
        """What is said in Color Obfuscation, and the hidden quality of an encoding."""
        oracle: dict[str, Any] = call.oracle if isinstance(call.oracle, dict) else {}
        color, luck = oracle.get("color", "808080"), _normal((draws[5] + 0.5) * _UNIT)
        if isinstance(call.expects, Encoding):
            quality = self.skill + SPREAD * luck
            text, broken = colors.hide(color, quality, draws)
            return text, {"quality": round(quality, 4), "family": self._family, "broken": broken}
        if "share" in oracle:
            found = colors.guess(color, self.skill, oracle.get("encoding"), oracle["share"], luck, draws[6])
        else:
            found = colors.follow(color, self.skill, oracle.get("encoding"), luck, draws[6])
        return colors.named(found, draws[7]), None

    def _choose(self, call: Call, expects: Choice, draws: tuple[int, ...]) -> str:
        options = expects.options
        noise = _normal((draws[5] + 0.5) * _UNIT) * (BLUR_WORST + (BLUR_BEST - BLUR_WORST) * self.skill)
        oracle: dict[str, Any] = call.oracle if isinstance(call.oracle, dict) else {}
        if options == ("approve", "object"):
            drafts = [_quality(draft) for draft in oracle.get("drafts", ())]
            approve = min(drafts, default=0.5) + noise > PASSABLE
            reason = _pick(texts.APPROVALS if approve else texts.OBJECTIONS, draws[6])
            return _in_format(expects.field, options[not approve], reason, draws[7])
        if options[:2] == ("A", "B"):
            choice, reason = self._compare(oracle.get("answers") or (None, None), noise, options, draws)
            return _in_format(expects.field, choice, reason, draws[7])
        return _in_format(expects.field, _pick(options, draws[6]), "It seems the best of them.", draws[7])

    def _compare(
        self, answers: Any, noise: float, options: tuple[str, ...], draws: tuple[int, ...]
    ) -> tuple[str, str]:
        """A judge's verdict on two answers, in the order shown, and its reason."""
        first, second = answers
        if not self._faultless:
            if draws[9] * _UNIT < self._faults.position_bias:
                return "A", f"The first answer {_pick(texts.BIASED_REASONS, draws[6])}."
            kin = [_family(answer) == self._family for answer in answers]
            if kin[0] != kin[1] and draws[10] * _UNIT < self._faults.self_preference:
                ordinal = "first" if kin[0] else "second"
                return "AB"[kin[1]], f"The {ordinal} answer {_pick(texts.BIASED_REASONS, draws[6])}."
        ahead = _quality(first) - _quality(second) + noise
        if abs(ahead) < TIE_BAND and "tie" in options:
            return "tie", _pick(texts.TIE_REASONS, draws[6])
        reasons = texts.CLEAR_REASONS if abs(ahead) > 2 * SPREAD else texts.CLOSE_REASONS
        ordinal = "first" if ahead > 0 else "second"
        return "A" if ahead > 0 else "B", f"The {ordinal} answer {_pick(reasons, draws[6])}."


def _pick(choices: tuple[str, ...], draw: int) -> str:
    return choices[draw % len(choices)]


def _quality(hidden: Any) -> float:
    """The quality of a house player's text; one half for texts of unknown quality."""
    return hidden["quality"] if isinstance(hidden, dict) else 0.5


def _family(hidden: Any) -> str:
    return hidden["family"] if isinstance(hidden, dict) else ""


def _in_format(field: str, choice: str, reason: str, draw: int) -> str:
    """A choice in one of the formats that models use. The reasons hold nothing that JSON would escape."""
    style = draw % 10
    if style < 6:
        return f'{{"reason": "{reason}", "{field}": "{choice}"}}'
    if style < 9:
        return f"{reason}\n\n**{field.capitalize()}:** {choice}"
    return f'```json\n{{"{field}": "{choice}", "reason": "{reason}"}}\n```'


def _draft(call: Call, draws: tuple[int, ...]) -> str:
    topic = call.oracle.get("topic", "") if isinstance(call.oracle, dict) else ""
    if call.key.startswith("case/"):
        case = _pick(texts.CASES, draws[6]).replace("@", _pick(texts.COMPLAINTS, draws[7]))
        age, pulse = 24 + draws[8] % 60, 58 + draws[9] % 60
        return case.format(age=age, pulse=pulse, field=topic or "general medicine")
    if call.key.startswith("question/") and any("<<<case " in said for _, said in call.messages):
        return _pick(texts.CASE_QUESTIONS, draws[6]).replace("@", _subject(call))
    subjects = texts.SUBJECTS.get(topic) or (topic or "a question of your own",)
    return _pick(texts.QUESTIONS, draws[6]).replace("@", _pick(subjects, draws[7]))


def _subject(call: Call) -> str:
    """What a house question is about: it stands in “quotation marks”; else the beginning of the prompt."""
    text = call.messages[-1][1] if len(call.messages) < 3 else call.messages[1][1]
    start = text.find("“") + 1
    end = text.find("”", start, start + 120) if start else -1
    if end > 0:
        return text[start:end]
    line = text.strip().partition("\n")[0]
    return f"“{line[:60].strip()}”" if line and not line.startswith("<<<") else "the question"


def _essay(subject: str, quality: float, draws: tuple[int, ...]) -> str:
    """An answer that sounds like its quality: one voice each for fine, fair and poor."""
    voice = texts.FINE if quality >= 0.62 else texts.FAIR if quality >= 0.38 else texts.POOR
    points = voice.points
    first, step, count = draws[8] % len(points), draws[9] % (len(points) - 1) + 1, 3 + draws[10] % 3
    said = [_pick(voice.openings, draws[11])]
    at = first
    for _ in range(count):
        said.append(points[at])
        at = (at + step) % len(points)
        if at == first:
            break
    said.append(_pick(voice.closings, draws[12]))
    return "\n\n".join(said).replace("@", subject)
