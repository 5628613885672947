"""`peerage completion`: the shell completes commands, options, and the names in an arena."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli import COMPLETING

if TYPE_CHECKING:
    from peerage.ledger.store import Summary
    from peerage.settings import ArenaSettings

NEWEST = 1_000
"""Names are read from so many of the newest matches, so that an answer comes at once in any arena."""

# Readline breaks words at colons, which most players' names have: the function takes the line as it was
# typed, and leaves out of each word what stands before the last break. Words with spaces are quoted.
BASH = r"""
_peerage_completion() {
    local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} words number cut word
    read -a words <<< "$line"
    number=${#words[@]}
    [[ $line == *[[:space:]] ]] || number=$((number - 1))
    cut=${words[number]}
    [[ $COMP_WORDBREAKS == *:* && $cut == *:* ]] && cut=${cut%"${cut##*:}"} || cut=
    COMPREPLY=()
    while IFS= read -r word; do
        [[ -n $word ]] && COMPREPLY+=("$(printf %q "${word#"$cut"}")")
    done < <(COMP_WORDS=$line COMP_CWORD=$number _PEERAGE_COMPLETE=complete_bash "$1" 2> /dev/null)
}

complete -o default -F _peerage_completion peerage
"""


class Shell(StrEnum):
    """A shell that asks us what a word could become."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"
    powershell = "powershell"


def completion(shell: Annotated[Shell, typer.Argument(help="Your shell.")]) -> None:
    """Let your shell complete commands, options and names.

    Prints a script. bash: add `eval "$(peerage completion bash)"` to ~/.bashrc; zsh: the same with zsh to
    ~/.zshrc, after compinit; fish: `peerage completion fish > ~/.config/fish/completions/peerage.fish`;
    PowerShell: `peerage completion powershell >> $PROFILE`.
    """
    from typer._completion_shared import get_completion_script

    script = BASH.strip()
    if shell is not Shell.bash:
        script = get_completion_script(prog_name="peerage", complete_var=COMPLETING, shell=shell.value)
    typer.echo(script)


def _there(
    ctx: typer.Context, names: Callable[[ArenaSettings, Iterable[Summary]], Iterable[str]]
) -> set[str]:
    """What `names` finds in the arena that the command names, as far as it can be read: a message in the
    middle of a line helps nobody."""
    from peerage.ledger import open_ledger
    from peerage.settings import FILE_NAME, ArenaSettings, load

    folder, found = ctx.params.get("folder") or Path(), set[str]()
    with suppress(Exception):
        settings = load(folder, reading=True) if (folder / FILE_NAME).exists() else ArenaSettings()
        found |= {*names(settings, ())}
        with closing(open_ledger(settings.ledger, folder, create=False)) as ledger:
            newest = ledger.heads()[1]
            found |= {*names(settings, ledger.summaries(max(1, newest - NEWEST), newest))}
    return found


def _beginning(found: Iterable[str], incomplete: str) -> list[str]:
    return sorted(one for one in found if one and one.startswith(incomplete))


def player_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The players of the arena, and those on record, whose names begin so."""

    def names(settings: ArenaSettings, matches: Iterable[Summary]) -> Iterable[str]:
        yield from (player.name for player in settings.players)
        for match in matches:
            yield from match.players

    return _beginning(_there(ctx, names), incomplete)


def topic_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The topics on record that begin so."""
    return _beginning(_there(ctx, lambda _, matches: (match.topic for match in matches)), incomplete)


def played_games(ctx: typer.Context, incomplete: str) -> list[str]:
    """The games on record whose names begin so."""
    return _beginning(_there(ctx, lambda _, matches: (match.game for match in matches)), incomplete)


def every_game(incomplete: str) -> list[str]:
    """The games of this program whose names begin so."""
    from peerage.games import GAMES

    return _beginning(GAMES, incomplete)
