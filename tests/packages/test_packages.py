"""What a release publishes: whole, installable, and of use with nothing else installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.packages.environments import ROOT, Built, Environment, installed, see

SOURCE = ROOT / "src"
SITE = "peerage[site]"

CASES = {
    "demo --matches 6 --dir arena": "",
    "init --dir own": "",
    "doctor --dir arena": "",
    "plan --dir arena": "",
    "run --dir arena --max-matches 8 --yes": "",
    "play --dir arena": "none of this arena's players is a person",
    "leaderboard --dir arena": "",
    "stats --dir arena": "",
    "match 1 --dir arena": "",
    "stats --of judges --dir arena": "",
    "annotate --dir arena": "",
    "simulate --dir arena --matches 20 --arenas 2": "",
    "rejudge --dir arena --to again --judges house:0.8 --judges house:0.7 --max-matches 2 --yes": "",
    "verify --dir arena": "",
    "replay --dir arena": "",
    "export --dir arena --format csv": "",
    "serve --dir arena --port 0": SITE,
    "report report.html --dir arena": SITE,
    "rate battles.csv": "",
    "players --dir arena": "",
    "import battles.csv --dir own": "",
    "games about duel": "",
    "games new mine": "",
    "games check mine.py": "",
    "sandbox run program.py": "peerage[sandbox]",
    "sandbox check": "peerage[sandbox]",
    "site build pages --dir arena": SITE,
    "site publish results --dir arena": SITE,
    "site init results": "",
    "challenges list --dir arena": "",
    "tournament page tournament.html --dir arena": SITE,
    "checkpoint --new-key": "",
    "checkpoint --dir own": "",
    "disclose --dir own --yes": "",
    "demo --game trivia --matches 1 --dir trivia": "peerage[facts]",
    "demo --game code-golf --matches 1 --dir golf": "peerage[sandbox]",
    "demo --game ./mine.py --matches 1 --dir mine": "",
    "demo --game gauntlet --matches 2 --dir gauntlet": "",
}
"""Commands where nothing but what Peerage itself requires is installed, each with what it names in one line;
empty: it works."""


@pytest.fixture(scope="module")
def bare(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return installed(tmp_path_factory.mktemp("bare") / "environment", built.wheel)


def test_the_wheel_holds_every_file_of_the_program_and_nothing_else(built: Built) -> None:
    there = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*") if file.is_file()}
    there = {name for name in there if "__pycache__" not in name}
    held = {name for name in zipfile.ZipFile(built.wheel).namelist() if ".dist-info/" not in name}
    assert held == there
    assert {Path(name).suffix for name in held} >= {".html", ".css", ".js", ".toml", ".yaml", ".md", ".txt"}


def test_a_wheel_made_from_the_sdist_is_the_same(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (again,) = (tmp_path / "again").glob("*.whl")
    ours, theirs = (
        {one.filename: one.CRC for one in zipfile.ZipFile(wheel).infolist()} for wheel in (built.wheel, again)
    )
    assert ours == theirs
    assert {"README.md", "LICENSE", "docs", "tests", "examples", "Makefile"} <= {
        file.name for file in folder.iterdir()
    }


def test_every_command_works_bare_or_names_its_extra_in_one_line(bare: Environment) -> None:
    here = bare.home
    (here / "battles.csv").write_text("model_a,model_b,winner\na,b,model_a\nb,c,model_a\nc,a,tie\n", "utf-8")
    (here / "program.py").write_text("print(1)\n", "utf-8")
    found = commanded(bare, list(CASES), "others")
    wrong = []
    for (line, says), (code, out, err) in zip(CASES.items(), found, strict=False):
        one_line = code in (1, 2) and len(err.splitlines()) <= 1 and says in out + err
        if not (one_line if says else code == 0):
            wrong.append(f"peerage {line}: exit code {code}\n{out[-300:]}{err}")
    assert not wrong, "\n".join(wrong)
    # Commands that are not listed above, called with nothing: no fault of the program's own.
    faults = [err for _, _, err in found[len(CASES) :] if "Internal" in err or "No module" in err]
    assert not faults


def test_pages_are_not_begun_where_part_of_what_draws_them_is_missing(bare: Environment) -> None:
    here = bare.home
    see(bare, ["jinja2"])  # a package of many others, too
    lines = ["demo --matches 2 --dir two", "site build pages --dir two", "report two.html --dir two"]
    for code, out, err in commanded(bare, lines)[1:]:
        assert (code, out, len(err.splitlines())) == (1, "", 1)
        assert "resvg_py is not installed" in err
    assert not (here / "pages").exists()


def commanded(place: Environment, lines: list[str], *more: str) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each command; with `others` also of those that `lines` do not name."""
    done = subprocess.run(
        [place.python, Path(__file__).with_name("every_command.py"), *more],
        cwd=place.home,
        env=place.variables(LC_ALL="C"),
        input=json.dumps([line.split() for line in lines]),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "a thread or a child process complains past the command"
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


def test_the_script_that_is_installed_starts(bare: Environment) -> None:
    """As `uvx peerage demo` and `pipx run peerage demo` start it: by the script alone, from any folder."""
    done = bare.run(bare.root / "bin" / "peerage", "--version", cwd=bare.home)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == "peerage"
