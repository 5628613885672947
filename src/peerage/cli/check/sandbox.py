"""`peerage sandbox run`, `peerage sandbox check`: programs that are not to be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.shared.options import ReportFormat, Written, group

if TYPE_CHECKING:
    from peerage.sandbox.pool import SandboxCheck

app = group("Run a program that is not to be trusted.")


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The Python program.", exists=True, dir_okay=False)],
    stdin: Annotated[
        Path | None, typer.Option("--stdin", help="What it reads.", exists=True, dir_okay=False)
    ] = None,
    shape: Written = ReportFormat.text,
) -> None:
    """Run one Python program in the sandbox.

    Its output is shown with control characters made visible. Exits with 0 when the program came to its end
    and with 1 otherwise.
    """
    import asyncio
    from dataclasses import asdict

    from peerage.cli.shared.output import show_json
    from peerage.sandbox.pool import SandboxPool
    from peerage.sandbox.program import Program, RunResult
    from peerage.values.texts import visible

    program = Program(_text(file), _text(stdin) if stdin else "")

    async def once() -> RunResult:
        async with SandboxPool(workers=1) as pool:
            return await pool.run(program)

    result = asyncio.run(once())
    if shape is ReportFormat.json:
        show_json(asdict(result))
    else:
        typer.echo(visible(result.stdout), nl=False)
        typer.echo(visible(result.stderr), nl=False, err=True)
        fuel = "" if result.fuel is None else f", {result.fuel:,} instructions"
        typer.echo(f"{result.status}: {result.milliseconds} ms{fuel}", err=True)
    if not result.ok:
        raise typer.Exit(1)


@app.command()
def check(shape: Written = ReportFormat.text) -> None:
    """Say what protects this machine.

    Tries the sandbox for real. The first time, it is compiled, which takes half a minute. Exits with 1 when
    there is no sandbox.
    """
    import asyncio
    from dataclasses import asdict

    from peerage.cli.shared.output import show_json
    from peerage.sandbox.pool import check as look

    found = asyncio.run(look())
    if shape is ReportFormat.json:
        show_json(asdict(found))
    else:
        typer.echo(_line(found))
        typer.echo(f"agents and commands: {f'no. {found.lacking}' if found.lacking else 'yes'}")
    if found.refused:
        raise typer.Exit(1)


def _line(found: SandboxCheck) -> str:
    if found.refused:
        return f"no. {found.refused}"
    held = found.protections
    walls = {
        f"Landlock {held.landlock}": held.landlock,
        "seccomp": held.seccomp,
        f"namespaces ({', '.join(held.namespaces)})": held.namespaces,
        "no privileges": held.unprivileged,
        "resource limits": held.limits,
    }
    standing = ", ".join(["WebAssembly", *[wall for wall, stands in walls.items() if stands]])
    return f"yes, held by {standing}; cold start {found.start_ms} ms"


def _text(file: Path) -> str:
    from peerage.values.inputs import read_text

    return read_text(file).replace("\r\n", "\n").replace("\r", "\n")
