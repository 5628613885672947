"""Tables as LaTeX, in which no text is a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from peerage.game.media import worded
from peerage.render import rows as laid
from peerage.render.blocks import Rows, ViewBlock
from peerage.values.texts import visible

_MARKS = str.maketrans(
    {char: f"\\{char}" for char in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$", "|": r"\textbar{}"}
)


def latex(blocks: Iterable[ViewBlock]) -> str:
    """Return the tables among blocks as LaTeX for the package booktabs, titles and notes as comments; all
    other blocks are left out."""
    return "\n".join([line for block in blocks if isinstance(block, Rows) for line in _table(block)]) + "\n"


def _table(block: Rows) -> Iterator[str]:
    columns, remarks = laid.shown(block), laid.remarks(block)
    notes = laid.sentences([*laid.hints(columns), *block.notes, *remarks.shared], block.rows)
    yield from [f"% {visible(worded(line))}".replace("\n", " ") for line in (block.title, *notes) if line]
    yield rf"\begin{{tabular}}{{{''.join('r' if column.number else 'l' for column in columns)}}}"
    lines = [
        [column.title for column in columns],
        *[[column.text(row) for column in columns] for row in block.rows],
    ]
    head, *body = [rf"{' & '.join(visible(cell).translate(_MARKS) for cell in line)} \\" for line in lines]
    yield from (r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}")
