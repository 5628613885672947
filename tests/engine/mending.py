"""A game of work in a folder: who makes its hidden test pass wins. That one is laid over what was done."""

from peerage.formats import Text
from peerage.game.bounds import Asks
from peerage.game.match import Outcome, by_rank
from peerage.game.protocol import Prompt, Voided
from peerage.game.spec import GameRules, GameSpec, Needs
from peerage.game.work import ShellCommand
from peerage.sandbox.folder import WorkFolder, read_patch

FOLDER = WorkFolder.of({"answer": "wrong\n", "test.sh": "exit 1\n"})
HIDDEN = WorkFolder.of({"test.sh": "echo tested; grep -q right answer\n"})
MEND = Prompt("", "Mend the folder. {format}")
FORMAT = Text(10_000)


def play(table):
    labels = [seat.label for seat in table.seats]
    replies = yield [
        MEND.ask(label, f"mend/{label}", FORMAT, {}, 100, oracle=0, folder=FOLDER) for label in labels
    ]
    done = {label: reply.text for label, reply in zip(labels, replies, strict=True) if usable(reply.text)}
    if not done:
        raise Voided("nobody mended anything")
    ended = yield [
        ShellCommand(f"test/{label}", FOLDER, "sh test.sh", patch, HIDDEN, keeps=True, seconds=9.0)
        for label, patch in done.items()
    ]
    passed = {label: reply.value.status == "ok" for label, reply in zip(done, ended, strict=True)}
    return Outcome(
        scores=by_rank({label: passed.get(label, False) for label in labels}),
        detail={"passed": passed, "hands": list(table.hands)},
    )


def usable(text):
    try:
        return bool(read_patch(text))
    except ValueError:
        return False


GAME = GameSpec(
    name="mending",
    about="Who makes the test pass wins.",
    contestants=(2, 2),
    rules=GameRules,
    play=play,
    asks=lambda rules, fixture: (Asks("contestant", MEND, FORMAT, calls=1, max_tokens=100),),
    needs=Needs(commands=lambda rules: True),
)
