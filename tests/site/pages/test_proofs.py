"""What a site carries for strangers: checkpoints, and proofs of matches that check without Peerage."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import SMALL, house, paced, play, write_arena
from tests.engine.clients import Cast
from tests.servers.witness import NAME, Witness, serving
from typer.testing import CliRunner, Result

from peerage.cli.main import app
from peerage.ledger.check.checkpoints import kept_in, new_key
from peerage.players.client import Call, PlayerError
from peerage.site.export.build import build_folder
from peerage.site.pages.router import page
from peerage.site.reading import Site

SCRIPT = Path(__file__).parents[3] / "examples" / "check" / "proof.py"


def peerage(folder: Path, *words: str) -> Result:
    done = CliRunner().invoke(app, [*words, "--dir", str(folder)])
    assert "Internal error" not in done.output
    return done


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("settings") / "checkpoint.key"
    new_key(path)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, key: Path) -> Path:
    """Six matches, of which four are signed."""
    folder = write_arena(
        tmp_path_factory.mktemp("proven") / "arena", house(4), rules=SMALL, engine={"retries": 2}
    )
    play(folder, 4)
    assert peerage(folder, "checkpoint", "--key", str(key)).exit_code == 0
    play(folder, 6)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "arena"))


def proofs(folder: Path) -> list[dict[str, object]]:
    with closing(Site.open(folder)) as site:
        made = page(site, "proofs/1.jsonl")
    assert made is not None
    return [json.loads(line) for line in made.body.splitlines()]


def test_the_script_without_peerage_checks_a_proof(folder: Path, tmp_path: Path) -> None:
    public = (folder / "checkpoints" / "keys.txt").read_text("ascii").strip()
    file = tmp_path / "1.jsonl"

    def checked(line: dict[str, object], key: str = public) -> tuple[int, str]:
        file.write_text(json.dumps(line) + "\n", "utf-8")
        command = [sys.executable, "-I", "-W", "error", SCRIPT, file, key, "2"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout or done.stderr.splitlines()[-1]

    found = proofs(folder)
    assert [line["match"] for line in found] == [1, 2, 3, 4]
    second = found[1]
    code, said = checked(second)
    size = kept_in(folder)[0].checkpoint.size
    assert (code, f"in {size} entries signed by {public.partition('+')[0]}" in said) == (0, True), said
    harms = {
        "record": '"void"',
        "fixture": '"round"',
        "rows": "[",
        "proof": "index ",
    }
    for field, mark in harms.items():
        text = str(second[field])
        assert mark in text
        assert checked(second | {field: text.replace(mark, mark + "1", 1)})[0] == 1, field
    exchanges = [list(one) for one in second["exchanges"]]  # type: ignore[call-overload]
    exchanges[3][3] = exchanges[3][3].replace('"text":"', '"text":"No: ')
    code, said = checked(second | {"exchanges": exchanges})
    assert (code, "other replies" in said) == (1, True), said
    # The proof of another match, and one that somebody else signed.
    assert checked(second | {"proof": found[0]["proof"]})[0] == 1
    name, _, other = public.split("+", 2)
    assert checked(second, f"{name}+00000000+{other[:-8]}{'A' * 8}")[0] == 1


def test_a_site_carries_checkpoints_and_shows_who_signed(folder: Path, tmp_path: Path, key: Path) -> None:
    out = tmp_path / "site"
    build_folder(folder, out)
    [first] = kept_in(folder)
    note = f"checkpoints/{first.checkpoint.size}.txt"
    assert (out / note).read_text("utf-8") == str(first.checkpoint)
    assert (out / "checkpoints" / "list.txt").read_text("utf-8") == f"{first.checkpoint.size}.txt\n"
    shown = (out / "ledger.html").read_text("utf-8")
    assert f'<a href="{note}" download>' in shown
    assert first.checkpoint.origin in shown
    assert "nobody yet" in shown  # no witness has signed
    pages = [path.read_text("utf-8") for path in (out / "match").iterdir()]
    assert sum('href="../proofs/1.jsonl"' in page for page in pages) == 4  # of six matches
    kept = (out / "proofs" / "1.jsonl").read_bytes()
    assert build_folder(folder, out).written == 0
    # What a stranger saves from the site checks the ledger, and the one that the site carries.
    done = CliRunner().invoke(app, ["verify", str(out / "data"), "--checkpoint", str(out)])
    assert (done.exit_code, "by 2 matches" in done.output) == (0, True), done.output
    # One signed later proves the others; what was proven stays as it is.
    assert peerage(folder, "checkpoint", "--key", str(key)).exit_code == 0
    build_folder(folder, out)
    assert all('href="../proofs/1.jsonl"' in path.read_text("utf-8") for path in (out / "match").iterdir())
    assert (out / "proofs" / "1.jsonl").read_bytes().startswith(kept)
    done = CliRunner().invoke(app, ["verify", str(out / "data"), "--checkpoint", str(out / "proofs/1.jsonl")])
    assert done.exit_code == 0


def test_without_a_checkpoint_nothing_is_offered(folder: Path, tmp_path: Path) -> None:
    shutil.rmtree(folder / "checkpoints")
    build_folder(folder, tmp_path / "site")
    assert not (tmp_path / "site" / "checkpoints").exists()
    assert not (tmp_path / "site" / "proofs").exists()
    assert "proofs/" not in (tmp_path / "site" / "match" / "1.html").read_text("utf-8")
    assert "<h2>Checkpoints</h2>" not in (tmp_path / "site" / "ledger.html").read_text("utf-8")
    with closing(Site.open(folder)) as site:
        assert page(site, "proofs/1.jsonl") is None
        assert page(site, "checkpoints/keys.txt") is None
        assert page(site, "checkpoints/../arena.yaml") is None


def test_what_is_sealed_stays_sealed_in_a_proof(tmp_path: Path, key: Path) -> None:
    rules = {"seats": 3, "proof": "blind", "attempts": 1}
    folder = write_arena(tmp_path / "sealed", house(5), game="challenge-exchange", rules=rules)
    play(folder, 2)
    assert peerage(folder, "checkpoint", "--key", str(key)).exit_code == 0
    found = proofs(folder)
    for line in found:
        assert "~salt" not in f"{line['record']}{line['exchanges']}"
        assert '{"sealed":"' in f"{line['record']}{line['exchanges']}"
    file = tmp_path / "1.jsonl"
    file.write_text("".join([json.dumps(line) + "\n" for line in found]), "utf-8")
    public = (folder / "checkpoints" / "keys.txt").read_text("ascii").strip()
    command = [sys.executable, "-I", SCRIPT, file, public, "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_clone_of_published_results_is_held_against_its_checkpoints(
    folder: Path, tmp_path: Path, key: Path
) -> None:
    results = tmp_path / "results"
    play_with_failures(folder)
    assert peerage(folder, "checkpoint", "--key", str(key)).exit_code == 0
    assert peerage(folder, "site", "publish", str(results)).exit_code == 0
    root = json.loads(peerage(folder, "verify", "--format", "json").stdout)["log_root"]
    with closing(Site.open(folder)) as site:
        assert any(row.failure for row in site.moment.exchanges(1))
    done = CliRunner().invoke(app, ["verify", str(results), "--format", "json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["problems"]) == (0, [])
    assert (found["log_root"], found["copy"]) == (root, True)
    assert [one["extends"] for one in found["checkpoints"]] == [True, True]
    assert all(one["signed"] for one in found["checkpoints"])
    # The pages made from it prove the same.
    done = CliRunner().invoke(app, ["site", "build", str(tmp_path / "site"), "--results", str(results)])
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "site" / "proofs" / "1.jsonl").read_bytes().splitlines()) == 8
    # A match that was re-dated in the repository, and one that is not there any more.
    file = results / "matches" / "000" / "2.json"
    match = json.loads(file.read_text("utf-8"))
    match["at_ms"] += 1
    file.write_text(json.dumps(match), "utf-8")
    done = CliRunner().invoke(app, ["verify", str(results)])
    assert (done.exit_code, "match 2: " in done.output) == (1, True), done.output
    file.unlink()
    done = CliRunner().invoke(app, ["verify", str(results)])
    assert (done.exit_code, "2.json is missing" in done.output) == (1, True), done.output


def play_with_failures(folder: Path) -> None:
    """Two further matches, in which attempts fail and are made again."""

    def clumsy(call: Call, attempt: int) -> PlayerError | None:
        return PlayerError("slow down") if attempt == 0 and call.seed[0] in "01234567" else None

    play(folder, 8, clients=Cast(clumsy))


def test_a_witness_cosigns_and_the_page_shows_it(folder: Path, tmp_path: Path, key: Path) -> None:
    early = Path(shutil.copytree(folder, tmp_path / "early"))
    log = kept_in(folder)[0].signed[0].key
    witness = Witness(log)
    words = ["checkpoint", "--key", str(key), "--witness-key", str(witness.key), "--witness"]
    with serving(witness) as address:
        assert peerage(folder, *words, address).exit_code == 0
        play(folder, 8)
        # Its key is known by now.
        done = peerage(folder, "checkpoint", "--key", str(key), "--witness", address)
        assert done.exit_code == 0, done.output
        newest = kept_in(folder)[-1]
        assert witness.size == newest.checkpoint.size
        assert [one.key.name for one in newest.signed] == [log.name, NAME]
        # Another history, of which the witness has seen the beginning, is neither cosigned nor kept.
        play(early, 9, clients=paced(7))
        before = sorted((early / "checkpoints").iterdir())
        done = peerage(early, *words, address)
        assert (done.exit_code, "its past was rewritten" in done.output) == (1, True), done.output
        assert sorted((early / "checkpoints").iterdir()) == before
    # One that is away holds up nothing.
    play(folder, 9)
    done = peerage(folder, *words, address)
    assert (done.exit_code, "cannot be reached" in done.output) == (1, True)
    assert len(kept_in(folder)) == 4
    build_folder(folder, tmp_path / "site")
    shown = (tmp_path / "site" / "ledger.html").read_text("utf-8")
    assert shown.count(f">{NAME} (2027-01-15") == 2
    assert shown.count("nobody yet") == 2
    public = str(witness.key)
    done = peerage(folder, "verify", "--checkpoint", str(folder / "checkpoints" / f"{witness.size}.txt"))
    assert f"witnessed by {NAME}" in done.output
    assert public in (tmp_path / "site" / "checkpoints" / "keys.txt").read_text("ascii")
