"""What house players say: pieces of text, put together by `house`. `@` stands for the subject at hand."""

from __future__ import annotations

from typing import NamedTuple

SUBJECTS: dict[str, tuple[str, ...]] = {
    "arithmetic and estimation": (
        "how many piano lessons are given in Lisbon in a week",
        "the weight of the water in a rain cloud over a village",
        "how long a litre of paint lasts as a line one millimetre wide",
    ),
    "algebra and proof": (
        "why the product of four consecutive whole numbers is one less than a square",
        "whether two irrational numbers can have a rational power",
        "why a checkerboard without two opposite corners resists dominoes",
    ),
    "probability and statistics": (
        "why a test that is right 99 times in 100 can still be wrong most of the time",
        "how a school can improve in every class and get worse on the whole",
        "why your friends have more friends than you do",
    ),
    "logic and puzzles": (
        "three switches, one lamp upstairs and a single walk up the stairs",
        "five clerks who each say that exactly two of the others are lying",
        "a ferry that carries two, and six passengers who cannot all be trusted",
    ),
    "algorithms and data structures": (
        "finding the busiest hour in a log too long to keep",
        "why a hash table slows down just before it grows",
        "merging two calendars without comparing every pair of appointments",
    ),
    "writing and repairing code": (
        "a cache that returns yesterday's price once a night",
        "a counter that loses one in a thousand clicks",
        "a loop that works on every list but the empty one",
    ),
    "physics": (
        "why a bicycle stays up better when it moves",
        "how a heat pump delivers more warmth than it draws power",
        "why the rim of a spinning wheel is shorter for one observer than for another",
    ),
    "chemistry": (
        "why salt melts ice but also makes a freezing mixture",
        "how soap persuades oil and water to meet",
        "why bread browns in the oven and not in the steamer",
    ),
    "biology and medicine": (
        "why a fever helps until it harms",
        "how a plant on a windowsill knows where the light is",
        "why a course of antibiotics is not stopped on the first good day",
    ),
    "earth, climate and space": (
        "why the warmest hour comes after the highest sun",
        "how a desert can lie beside an ocean",
        "why the moon shows the same face and yet is not still",
    ),
    "history": (
        "why the printing press changed Europe faster than paper had",
        "what a port city's tax rolls tell about a plague year",
        "how a calendar reform could cause a riot, and whether it did",
    ),
    "geography and culture": (
        "why great cities stand where rivers stop being easy",
        "how a trade route leaves its trace in a cuisine",
        "why a border follows a watershed here and a straight line there",
    ),
    "economics and personal finance": (
        "whether to repay a loan early or to save the money",
        "why a queue is also a price",
        "what happens to rents when a town builds only at its edge",
    ),
    "law and public policy": (
        "a bylaw that forbids vehicles in the park, and a war memorial made of a tank",
        "who pays when an honest mistake damages a stranger's property",
        "how to write a noise rule that a festival and a nursery can both live with",
    ),
    "ethics and difficult choices": (
        "a promise to a friend that would hurt a stranger",
        "dividing one vaccine shipment between two towns",
        "telling a dying man a truth that he did not ask for",
    ),
    "language and translation": (
        "translating a pun that rests on a rhyme",
        "why 'the horse raced past the barn fell' is a sentence",
        "a polite refusal that sounds like consent in another language",
    ),
    "summarising and editing text": (
        "cutting a council's notice from two hundred words to fifty without losing a duty",
        "a summary that keeps the doubt of its source",
        "turning a page of passive voice into instructions for a volunteer",
    ),
    "creative writing under constraints": (
        "a farewell in exactly six lines without the letter e in the last",
        "a letter from a lighthouse to the ship that it never meets",
        "a bedtime story whose hero is a misprint",
    ),
    "planning and everyday problems": (
        "moving house in one day with a borrowed van and a grand piano",
        "feeding twelve guests when the oven fails at noon",
        "a week's errands for somebody with a broken leg and no car",
    ),
    "explaining an idea to a beginner": (
        "what a vaccine teaches the body, for a ten-year-old",
        "compound interest, for somebody who hates percentages",
        "recursion, with nothing but a set of nesting dolls",
    ),
}

QUESTIONS: tuple[str, ...] = (
    "Consider “@”. Explain the heart of the matter to a curious reader without special training, then "
    "name one "
    "common mistake and say exactly where it goes wrong. At most 250 words.",
    "A colleague asks about “@” and has two minutes. What do you say? Give the answer first, the reason "
    "second, "
    "and one example with numbers or names third.",
    "Take “@”. State the two assumptions that matter most, work through the case under them, and say how the "
    "conclusion changes if the weaker assumption fails.",
    "Somebody claims to have settled “@” in one sentence. Write the best such sentence you can, then "
    "defend it "
    "against its strongest objection in no more than five further sentences.",
    "On “@”: set out the steps from what is given to what follows, one line each, mark the step where most "
    "people slip, and finish with a check that would reveal the slip.",
    "Give a short, self-contained treatment of “@”: what is asked, what is known, what follows, and how "
    "sure one "
    "can be. A reader should be able to disagree with a precise line of it.",
)

CASES: tuple[str, ...] = (
    "A woman of {age} comes to the clinic in {field}. For three weeks she has been more tired than she can "
    "explain, and “@”. She takes a thiazide for blood pressure and nothing else. Pulse {pulse} a minute, "
    "pressure 138/84 mmHg, temperature 37.4 °C. Sodium is 128 mmol/l, creatinine 84 µmol/l; the rest is "
    "normal.",
    "A man of {age} is brought in at night; the service on call is {field}. His wife reports that since "
    "yesterday “@”. He stopped smoking a year ago. Pulse {pulse} a minute and regular, pressure 104/62 mmHg, "
    "oxygen saturation 94 % on air. C-reactive protein is 46 mg/l, lactate 2.4 mmol/l; the ECG shows no "
    "acute "
    "change.",
    "A patient of {age}, referred to {field}, has had two short admissions this year. This time “@”. "
    "There is "
    "no travel, no new drug and no family history that they know of. Pulse {pulse} a minute, pressure "
    "122/78 mmHg. Examination shows one finding that the last letter does not mention.",
)

COMPLAINTS: tuple[str, ...] = (
    "climbing one flight of stairs has become two stops instead of none",
    "a tingling that began in the feet has reached the knees",
    "the appetite has gone and two belts have become too long",
    "a pain that comes at night eases when sitting up",
    "a rash appeared on both shins and the ankles ache",
    "words come slowly in the evening and normally in the morning",
)

CASE_QUESTIONS: tuple[str, ...] = (
    "What is the most likely diagnosis in the case of “@”, and which single investigation would you order "
    "next? "
    "Say what result would change your mind.",
    "Given “@”, which of the findings deserves an answer within the hour, and what do you do first? "
    "Justify it "
    "from the case alone.",
    "Which drug would you stop, start or change first in the case of “@”, why, and what would you monitor?",
)


class Voice(NamedTuple):
    """Pieces of an answer of one quality: an opening, points in any order, a close."""

    openings: tuple[str, ...]
    points: tuple[str, ...]
    closings: tuple[str, ...]


FINE = Voice(
    openings=(
        "Short answer first: there is one mechanism behind @, and everything else follows from it.",
        "The matter of @ turns on a distinction that is easy to miss, so I begin with it.",
        "Two things have to be kept apart before @ makes sense: what is given and what we assume.",
        "Start from what can be checked. For @ that is less than it seems, and it is enough.",
    ),
    points=(
        "The first step is to fix the quantities: call the part we know a, the part we look for b, and "
        "note that "
        "only their ratio matters. That already rules out the most popular explanation, which changes both.",
        "A concrete case helps. Take the smallest example that still has the difficulty, work it by hand, "
        "and "
        "the pattern appears on the third line; with ten times the size nothing new happens.",
        "The usual mistake is to read the cause off the effect. It goes wrong exactly where the two happen "
        "together for a third reason, and here they do in about one case of four.",
        "Under the weaker assumption the conclusion still holds, but its size halves. I would therefore "
        "state it "
        "as a direction and not as a number.",
        "There is an objection worth taking seriously: that the effect vanishes when one looks long "
        "enough. It "
        "would be right if the parts were independent; they share a common source, so it is not.",
        "As a check, reverse the argument. If the conclusion were false, one would expect to see the "
        "opposite "
        "order in the simplest case, and there the order is plain to see.",
        "One limit should be named. Nothing above tells how fast this happens, only that it must; for the "
        "speed "
        "one needs a measurement, and a single good one would do.",
    ),
    closings=(
        "So: the mechanism decides, the example shows it, and the check would have caught me had I been "
        "wrong.",
        "I am confident of the direction and of the mechanism, less so of the exact size.",
        "In one sentence: what looks like an exception is the rule seen from its edge.",
    ),
)

FAIR = Voice(
    openings=(
        "This is about @, which can be explained in a few steps.",
        "There are several ways to look at @; I take the most common one.",
        "To answer this, one should first recall the general principle behind @.",
    ),
    points=(
        "In general the larger part dominates, so the smaller one can be left out at first. This is "
        "usually a "
        "good approximation, although there are exceptions.",
        "An example would be a household that doubles one thing and halves another: the total stays about "
        "the "
        "same, and that is more or less what happens here.",
        "Many people think that it is a question of time, but it is also a question of amount. Both play "
        "a part.",
        "The steps are: identify what is given, apply the principle, and compare the result with what one "
        "would "
        "expect. In this case they agree reasonably well.",
        "A common mistake is to forget the units, which leads to results that are too large.",
        "It should be noted that circumstances differ, and that the assumption of independence may not hold.",
    ),
    closings=(
        "Overall this explains most of what is observed.",
        "That is the main idea; details depend on the circumstances.",
        "So the statement is broadly true, with some caveats.",
    ),
)

POOR = Voice(
    openings=(
        "Great question! @ is something that people have wondered about for centuries.",
        "It is widely known that @ is mostly a matter of balance.",
        "As everybody learns at school, @ has a simple explanation: energy.",
    ),
    points=(
        "Basically everything is connected, and that is why it works the way it does.",
        "Some experts say one thing and others say another, so the truth is probably somewhere in the "
        "middle.",
        "If you add the numbers you get 108, which proves the point. Or 118, depending on the rounding.",
        "My grandmother kept bees, and bees know this by instinct. We should learn from them.",
        "First comes the first step, then the second, and after that the third, which is the result.",
        "This has nothing to do with chance, because chance is by definition random.",
    ),
    closings=(
        "I hope this helps! Let me know if you need anything else.",
        "In conclusion, it is what it is, and that is beautiful.",
        "Therefore the answer is yes.",
    ),
)

APPROVALS: tuple[str, ...] = (
    "One reading, all that is needed is in the text, and an expert could tell a good answer from a better "
    "one.",
    "Clear and answerable; the limit on length keeps it fair.",
    "I could answer it in a page and I could grade it. Nothing is missing.",
    "A fresh angle on a known matter, and it says what it wants.",
)

OBJECTIONS: tuple[str, ...] = (
    "It asks for a mistake without saying whose; say which audience is meant.",
    "Two readings are possible: the claim in general, or this one instance. Choose one and say so.",
    "It cannot be settled from the text alone; add the figure that the second part needs.",
    "Any fluent answer would do. Ask for something that can be wrong.",
    "The question holds three questions; keep the one that tells good from better.",
)

CLEAR_REASONS: tuple[str, ...] = (
    "names the mechanism and tests it, where the other one circles around it",
    "gives an example that can be checked; the other stays general",
    "answers what was asked, in order, and says how sure it is",
    "is right about where the usual mistake lies, and the other one makes that mistake",
)

CLOSE_REASONS: tuple[str, ...] = (
    "is a little more precise in its second step",
    "reads much like the other, but its last line earns the difference",
    "is barely ahead: fewer words that do no work",
)

TIE_REASONS: tuple[str, ...] = (
    "Both find the same point and defend it about equally well.",
    "Each has one good step and one loose one; I cannot separate them.",
    "They differ in style, not in substance.",
)

BIASED_REASONS: tuple[str, ...] = (
    "simply convinces from its first line",
    "has the tone that I would have chosen",
)

REFUSALS: tuple[str, ...] = (
    "I'm sorry, but I can't help with that.",
    "I would rather not answer this one; it is outside what I am comfortable with.",
)

RAMBLES: tuple[str, ...] = (
    "That depends on what one means by better, which is a question that has occupied better minds than mine.",
    "Verdict? I find both of them charming, each in its way, and I would not want to hurt anybody.",
    "Let me think about it step by step. Step one. Step two. I seem to have lost the thread.",
)
