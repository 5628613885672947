"""`peerage site`, `report` and `serve`: the arena as pages: to publish, to send, to watch live."""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
from contextlib import closing, suppress
from errno import EADDRINUSE
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.judge.annotate import stated
from peerage.cli.shared.options import HERE, CommandRefused, Folder, Force, drawing, group
from peerage.values.figures import counted
from peerage.values.system_errors import reason

if TYPE_CHECKING:
    from peerage.site.server.server import ArenaServer

app = group("Make a web site of the arena.")

TOKEN = "PEERAGE_TOKEN"
EVERYWHERE = "0.0.0.0"
LOOPBACK = "127.0.0.1"


@app.command()
def build(
    out: Annotated[Path, typer.Argument(help="The folder to write the pages to.")],
    folder: Folder = HERE,
    results: Annotated[
        Path | None,
        typer.Option(help="A repository of published results to build from.", show_default="the arena"),
    ] = None,
    url: Annotated[
        str,
        typer.Option(help="Where the pages will be: links to them get a picture, wrong addresses a page."),
    ] = "",
    force: Force = False,
) -> None:
    """Write the arena as a folder of pages.

    They work on any web host and opened as files, and are complete without scripts. Building again writes
    only what has changed. A folder that holds something else is left alone. Of more than 20,000 matches
    `peerage serve` shows the pages sooner.
    """
    _check_address(url)
    with drawing(), TemporaryDirectory() as restored:
        from peerage.site.export.build import build_folder

        if results is not None:
            from peerage.site.export.publishing import restore

            folder = Path(restored)
            restore(results, folder)
        built = build_folder(folder, out, url=url, force=force)
    gone = f", {built.removed} removed" if built.removed else ""
    typer.echo(
        f"{counted(built.written, 'page')} written, {built.kept:,} unchanged{gone}\nopen {out / 'index.html'}"
    )
    _disclosed(built.discloses)


@app.command()
def publish(
    results: Annotated[Path, typer.Argument(help="The repository: a clone, or a folder to make one in.")],
    folder: Folder = HERE,
    push: Annotated[bool, typer.Option("--push", help="Push it to its upstream; never by force.")] = False,
    force: Force = False,
) -> None:
    """Commit the results to a Git repository.

    One JSON file a match, leaderboard.json, and what it takes to restore and verify the ledger: the history
    is the audit trail. What is sealed is redacted.
    """
    from peerage.values.outputs import arena_files

    with drawing():
        from peerage.site.export.publishing import publish as committed
        from peerage.site.reading import Site

        with closing(Site.open(folder)) as site:
            kept = arena_files(folder, site.ledger.address)
            done = committed(site, results, push, kept, force=force)
    if done.commit:
        typer.echo(f"{counted(done.matches, 'match')} new or changed, commit {done.commit} in {results}")
        _disclosed(done.discloses)
    else:
        typer.echo(f"nothing has changed in {results}")


def _disclosed(discloses: bool) -> None:
    """Say what publishing costs who has tasks of their own."""
    if discloses:
        typer.echo(
            "These files show your tasks with what is expected. Once they are public, models may learn them: "
            "publish only tasks that you will not use again.",
            err=True,
        )


@app.command()
def init(
    results: Annotated[Path, typer.Argument(help="The results repository.")] = HERE, force: Force = False
) -> None:
    """Write the GitHub Actions workflow that builds and deploys the pages.

    It runs whenever `peerage site publish` has pushed new results.
    """
    from peerage.site.export.publishing import write_workflow

    file = write_workflow(results, force=force)
    typer.echo(f"wrote {file}; commit and push it, and choose GitHub Actions under Pages")


def report(
    out: Annotated[
        Path | None,
        typer.Argument(help="The file to write.", show_default="report.html in the arena's folder"),
    ] = None,
    folder: Folder = HERE,
    force: Force = False,
) -> None:
    """Write one HTML file to send to somebody.

    The verdict stands first, then the evidence. Of your own tasks the decision is one page to print. The file
    needs no other. An earlier report is replaced; any other file only with --force.
    """
    from peerage.values.outputs import REPORT, arena_files, refuse, write

    out = out or folder / "report.html"
    with drawing():
        from peerage.site.export.report import report as written
        from peerage.site.reading import Site

        with closing(Site.open(folder)) as site:
            kept = arena_files(folder, site.ledger.address)
            refuse(out, REPORT, kept, force=force)
            body = written(site)
    write(out, body, REPORT, kept, force=force)
    typer.echo(f"wrote {out}, {len(body) / 1000:.0f} kB")


Port = Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free port.")]
Network = Annotated[
    bool, typer.Option("--network", help="Open it to other machines, for those who have its link.")
]
ClientHeaderName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Behind a proxy: the header in which it names the client, by whose address limits "
        "then count: X-Forwarded-For, X-Real-IP, Forwarded.",
    ),
]
Proxies = Annotated[
    int, typer.Option(min=1, max=9, help="How many proxies of yours a request passes one after the other.")
]
Annotators = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Give this expert a private link to judge recorded duels; repeat it."),
]
Review = Annotated[
    bool, typer.Option("--review", help="Review challenges on a page that shows their answers.")
]
Address = Annotated[
    str,
    typer.Option(
        help="Where people reach it, as behind a proxy: links to it get a picture, and links that are "
        "printed begin so."
    ),
]


def serve(
    folder: Folder = HERE,
    port: Port = 8_000,
    network: Network = False,
    client_header: ClientHeaderName = None,
    proxies: Proxies = 1,
    vote: Annotated[bool, typer.Option("--vote", help="Let people judge pairs of answers, blind.")] = False,
    annotator: Annotators = None,
    review: Review = False,
    url: Address = "",
) -> None:
    """Show the arena in a browser, live while it is played.

    Reads the ledger alone and may run at the same time as `peerage run`. Only this machine can reach it,
    unless --network is given: then a link with a token opens it. The token is drawn at each start, or is
    PEERAGE_TOKEN.

    With --network, those who do not have the link read nothing, and slow, broken or very many connections
    shut out nobody. Nothing is encrypted: to reach people outside your own network, put a proxy that speaks
    HTTPS in front, and name the header in which it says who asks (--client-header). The proxy must write that
    header itself; docs/serve.md has an example.
    """
    if review and (network or url):
        also = "--network" if network else "--url"
        raise CommandRefused(f"--review shows sealed answers: it is for this machine alone, without {also}")
    token = _token() if network else None
    _check_header(client_header, proxies)
    _check_address(url)
    with drawing("`peerage serve` needs"):
        from peerage.site.http.connections import room
        from peerage.site.http.guard import ClientHeader
        from peerage.site.server.server import ArenaServer, listening
    header = None if client_header is None else ClientHeader(client_header, proxies)
    server = ArenaServer(
        folder,
        voting=vote,
        reviewing=review,
        experts=[stated(name) for name in dict.fromkeys(annotator or ())],
        token=token,
        room=room(),
        header=header,
        url=url,
    )
    try:
        door = listening(EVERYWHERE if network else LOOPBACK, port)
    except OSError as error:
        why = "is in use" if error.errno == EADDRINUSE else f"cannot be opened: {reason(error)}"
        raise CommandRefused(f"port {port} {why}; name another with --port, or 0 for any free one") from None
    welcome = "\n".join(_welcome(server, door.getsockname()[1], token, vote, review, url))
    with suppress(KeyboardInterrupt):
        server.run(door, lambda: typer.echo(welcome))
    typer.echo("stopped")


def _token() -> str:
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
    if not re.fullmatch(r"[A-Za-z0-9_-]{16,200}", token):
        raise CommandRefused(
            f"{TOKEN} is no token: 16 to 200 letters, digits, _ and - were expected. "
            "Unset it, and one is drawn"
        )
    return token


def _check_header(name: str | None, proxies: int) -> None:
    if name is None and proxies != 1:
        raise CommandRefused("--proxies counts those that write --client-header; name that header as well")
    if name is not None and not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name):
        raise CommandRefused(
            f"--client-header {name!r} is no name of a header; X-Forwarded-For, X-Real-IP or Forwarded "
            "was expected"
        )


def _seats(server: ArenaServer, at: str) -> list[str]:
    """Return where people play: their links are for the owner's terminal, and for no file."""
    from peerage.values.texts import visible

    if (server.links or server.experts) and not sys.stdout.isatty():
        return ["people's private links are shown at a terminal alone: start `peerage serve` there"]
    lines = []
    for links, about in (
        (server.links, "people's private links; anyone who has one has that seat:"),
        (server.experts, "experts' private links; anyone who has one votes under that name:"),
    ):
        if links:
            lines += [about, *[f"  {visible(name)}: {at}{path}" for name, path in links.items()]]
    return lines


def _check_address(url: str) -> None:
    if url and not re.fullmatch(r"https?://[^\s\"'<>?#]+", url):
        raise typer.BadParameter(
            f"found {url!r}; expected an address, as https://example.org/arena/", param_hint="--url"
        )


def _welcome(
    server: ArenaServer, port: int, token: str | None, vote: bool, review: bool, url: str = ""
) -> list[str]:
    from peerage.reading.results.outside import in_words
    from peerage.values.texts import visible

    there = f"{visible(server.settings.name)}: {in_words(server.results)} on record"
    here = LOOPBACK if token is None else socket.gethostname()
    at = f"{url.rstrip('/')}/" if url else f"http://{here}:{port}/"
    if token is None:
        lines = [f"{there}, at {at}", *([f"it listens at http://{here}:{port}/"] if url else [])]
    else:
        lines = [
            f"{there}, open to the network at",
            f"  {at}?token={token}",
            "anyone who has this link can read everything"
            + "; nothing is encrypted on the way" * (not url.startswith("https:")),
        ]
    lines += _seats(server, at)
    if vote:
        lines.append(f"voting is on: {at}vote.html")
    if review:
        lines.append(f"review challenges: {at}review.html")
    return [*lines, "Ctrl+C stops it"]
