"""From an empty folder to an arena that can run: init, doctor, lists."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from peerage.cli.begin import doctor
from peerage.cli.begin.demo import demo_text
from peerage.cli.begin.setup import arena_text, starters
from peerage.cli.main import app
from peerage.players.keys import PROVIDERS
from peerage.players.prices import price_of
from peerage.settings import enough_players, load, loads

cli = CliRunner()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in provider.key_env:
            monkeypatch.delenv(name, raising=False)


class TestInit:
    def test_without_a_key_house_players_stand_in(self, tmp_path: Path) -> None:
        done = cli.invoke(app, ["init", "--dir", str(tmp_path / "new"), "--seed", "4", "--name", "no: 'ne"])
        assert done.exit_code == 0
        assert "no provider's key found" in done.stdout
        settings = load(tmp_path / "new")
        enough_players(settings)
        assert settings.seed == 4
        assert settings.name == "no: 'ne"
        assert {player.provider for player in settings.players} == {"house"}

    def test_keys_of_the_env_file_choose_the_players_and_are_not_repeated(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=sk-secret-1\nGROQ_API_KEY=sk-secret-2\n")
        done = cli.invoke(app, ["init", "--dir", str(tmp_path)])
        assert "anthropic: key found in ANTHROPIC_API_KEY" in done.stdout
        assert "secret" not in done.stdout + (tmp_path / "arena.yaml").read_text()
        settings = load(tmp_path)
        assert {player.provider for player in settings.players} == {"anthropic", "groq"}
        assert settings.budget.arena == 5

    @pytest.mark.parametrize(
        ("variable", "scheme"), [("DATABASE_URL", "postgres"), ("MONGODB_URI", "mongodb+srv")]
    )
    def test_the_address_of_a_database_is_found_and_not_repeated(
        self, variable: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(variable, raising=False)
        (tmp_path / ".env").write_text(f"{variable}={scheme}://me:hunter2@db.test/x\n")
        done = cli.invoke(app, ["init", "--dir", str(tmp_path)])
        assert f"address found in {variable}" in done.stdout
        told = cli.invoke(app, ["doctor", "--dir", str(tmp_path)]).stdout
        assert f"`ledger: ${variable}` in arena.yaml keeps records there" in told
        text = (tmp_path / "arena.yaml").read_text()
        assert "hunter2" not in done.stdout + told + text
        (tmp_path / "arena.yaml").write_text(text.replace("# ledger:", "ledger:"))
        assert load(tmp_path).ledger == f"${variable}"

    def test_an_arena_that_is_there_is_kept(self, tmp_path: Path) -> None:
        (tmp_path / "arena.yaml").write_text("name: mine\n")
        done = cli.invoke(app, ["init", "--dir", str(tmp_path)])
        assert done.exit_code == 2
        assert "`--force` replaces it" in done.stderr
        assert (tmp_path / "arena.yaml").read_text() == "name: mine\n"
        assert cli.invoke(app, ["init", "--force", "--dir", str(tmp_path)]).exit_code == 0

    @pytest.mark.parametrize("provider", [name for name, about in PROVIDERS.items() if about.key_env])
    def test_each_provider_alone_makes_an_arena_that_its_budget_allows(self, provider: str) -> None:
        settings = loads(arena_text("x", 0, {provider: "A_KEY"}))
        assert settings.pairing.policy == "adaptive"
        enough_players(settings)
        if settings.budget.arena is not None:
            assert {player.provider for player in settings.players} == {provider}
            unpriced = [p.model for p in settings.players if not price_of(p, date(2025, 11, 1)).known]
            assert unpriced == []

    def test_every_provider_has_a_starter(self) -> None:
        assert starters().keys() == PROVIDERS.keys()

    def test_the_demo_is_an_arena(self) -> None:
        settings = loads(demo_text(1))
        enough_players(settings)
        assert (settings.name, settings.seed, settings.game) == ("demo", 1, "duel")
        assert {player.provider for player in settings.players} == {"house"}


class TestDoctor:
    def examined(self, folder: Path, code: int = 0) -> str:
        done = cli.invoke(app, ["doctor", "--dir", str(folder)])
        assert done.exit_code == code, done.output
        return done.stdout

    def test_every_extra_is_listed_but_those_for_work_on_peerage_itself(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stated = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
        extras = stated["project"]["optional-dependencies"]
        built = Message()  # what a package built now says of itself: the one installed may be older
        for extra in extras:
            built["Provides-Extra"] = extra
        monkeypatch.setattr(metadata, "metadata", lambda package: built)
        listed = {one.what for one in doctor.examine(tmp_path) if one.area == "installation"}
        assert listed == {"peerage", *extras} - {"dev", "bench", "docs", "mutants"}
        assert "mongo" in listed

    def test_without_an_arena(self, tmp_path: Path) -> None:
        shown = self.examined(tmp_path)
        assert f"`peerage init --dir {tmp_path}` writes one" in shown
        assert shown.endswith("\nThere is no arena here yet.\n")

    def test_it_begins_with_the_arena_and_folds_what_is_not_needed(self, tmp_path: Path) -> None:
        cli.invoke(app, ["init", "--dir", str(tmp_path)])
        first, *lines = self.examined(tmp_path).splitlines()
        assert first == "arena"
        assert sum(line.startswith("  · not set, not needed: ") for line in lines) == 1
        assert sum(line.endswith("  installed") or line.startswith("  ✓ installed: ") for line in lines) == 1
        assert len(lines) < 20

    def test_a_house_arena_lacks_nothing(self, tmp_path: Path) -> None:
        cli.invoke(app, ["init", "--dir", str(tmp_path)])
        shown = self.examined(tmp_path)
        assert shown.splitlines()[-1] == "This arena has all that it needs."
        assert "none yet; `peerage run` makes it" in shown
        assert not (tmp_path / "arena.db").exists()

    @pytest.mark.parametrize("there", [True, False])
    def test_a_game_that_runs_programs_wants_the_sandbox(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
    ) -> None:
        monkeypatch.setattr("peerage.sandbox.image.installed", lambda: there)
        (tmp_path / "arena.yaml").write_text(demo_text(1, "code-golf"), "utf-8")
        found = {(one.area, one.what): one for one in doctor.examine(tmp_path)}[("machine", "sandbox")]
        assert found.state == ("ok" if there else "broken")
        assert there or "peerage[sandbox]" in found.fix

    def test_the_sandbox_is_among_what_is_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("peerage.sandbox.image.installed", lambda: False)
        monkeypatch.setattr(doctor, "_lacking", lambda package, extra: [extra])
        ran: list[list[str]] = []
        monkeypatch.setattr(
            "subprocess.run", lambda words, check: ran.append(words) or type("Done", (), {"returncode": 0})
        )
        (tmp_path / "arena.yaml").write_text(demo_text(1, "code-golf"), "utf-8")
        doctor.install_missing(tmp_path)
        assert [words[-1] for words in ran] == ["peerage[sandbox]"]

    @pytest.mark.parametrize("ledger", ["sqlite:///arena.db", "postgresql://nobody@127.0.0.1:1/none"])
    def test_many_machines_want_a_ledger_on_postgresql(self, tmp_path: Path, ledger: str) -> None:
        text = demo_text(1, "duel") + f"ledger: {ledger}\nengine: ray\n"
        (tmp_path / "arena.yaml").write_text(text, "utf-8")
        shown = self.examined(tmp_path, 1)
        assert ("engine: ray wants a ledger on PostgreSQL" in shown) == ledger.startswith("sqlite")

    @pytest.mark.parametrize(
        ("engine", "address", "lacks"),
        [
            ("ray", "postgresql://nobody@127.0.0.1:1/none", {"postgres", "ray"}),
            ("local", "postgres://nobody@127.0.0.1:1/none", {"postgres"}),
            ("local", "mongodb://127.0.0.1:1/none", {"mongo"}),
        ],
    )
    def test_extras_of_ledger_and_engine_are_named_and_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, address: str, lacks: set[str]
    ) -> None:
        monkeypatch.setattr(doctor, "_lacking", lambda package, extra: [extra])
        monkeypatch.setattr(doctor, "_ledger", lambda settings, env, folder: ())  # nobody is there
        ran: list[list[str]] = []
        monkeypatch.setattr(
            "subprocess.run", lambda words, check: ran.append(words) or type("Done", (), {"returncode": 0})
        )
        (tmp_path / ".env").write_text(f"DATABASE_URL={address}\n", "utf-8")
        text = demo_text(1, "duel") + f"ledger: $DATABASE_URL\nengine: {engine}\n"
        (tmp_path / "arena.yaml").write_text(text, "utf-8")
        found = doctor.examine(tmp_path)
        broken = {one.what for one in found if one.area == "installation" and one.state == "broken"}
        assert broken == lacks & {*metadata.metadata("peerage").get_all("Provides-Extra", [])}
        doctor.install_missing(tmp_path)
        assert [words[-1] for words in ran] == [f"peerage[{','.join(sorted(lacks))}]"]

    def test_wrong_settings_are_named_with_their_line(self, tmp_path: Path) -> None:
        (tmp_path / "arena.yaml").write_text("players: [house:0.1, house:0.2]\nseed: x\n")
        assert "line 2, seed: found 'x'" in self.examined(tmp_path, 1)

    def test_a_missing_key_is_named_with_its_mend_and_never_shown(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("MISTRAL_API_KEY=sk-very-secret\n")
        lines = [f"  - {{model: openai:gpt-5-mini, name: p{at}}}\n" for at in range(5)]
        (tmp_path / "arena.yaml").write_text(f"players:\n{''.join(lines)}")
        shown = self.examined(tmp_path, 1)
        assert "✗ p0" in shown
        assert "OPENAI_API_KEY is not set" in shown
        assert "→ write OPENAI_API_KEY=... into .env" in shown
        assert "✓ mistral" in shown
        assert "secret" not in shown
        assert shown.count("OPENAI_API_KEY is not set") == shown.count("→ write OPENAI_API_KEY") == 1
        assert "✗ p0, p1, p2, p3, p4" in shown
        assert shown.endswith("1 thing marked ✗ must be fixed before this arena can run.\n")

    def test_a_mend_names_one_variable(self, tmp_path: Path) -> None:
        lines = [f"  - {{model: google:gemini-2.5-flash, name: p{at}}}\n" for at in range(5)]
        (tmp_path / "arena.yaml").write_text(f"players:\n{''.join(lines)}")
        assert "→ write GOOGLE_API_KEY=... into .env" in self.examined(tmp_path, 1)

    def test_a_missing_extra_is_not_blamed_on_prices(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("peerage.players.checks._installed", lambda module: False)
        lines = [f"  - {{model: openai:my-own, name: p{at}}}\n" for at in range(5)]
        (tmp_path / "arena.yaml").write_text(f"budget: 3\nplayers:\n{''.join(lines)}")
        shown = self.examined(tmp_path, 1)
        assert "the extra `models` is not installed" in shown
        assert "so the budget cannot be kept" not in shown

    def test_a_budget_without_a_price_is_broken(self, tmp_path: Path) -> None:
        house = "".join(f"  - house:0.{at}\n" for at in range(1, 6))
        (tmp_path / "arena.yaml").write_text(f"budget: 1\nplayers:\n  - python:json:dumps\n{house}")
        shown = self.examined(tmp_path, 1)
        assert "none known for python:json:dumps, so the budget cannot be kept" in shown

    def test_a_ledger_that_is_none(self, tmp_path: Path) -> None:
        cli.invoke(app, ["init", "--dir", str(tmp_path)])
        (tmp_path / "arena.db").write_text("not a database " * 100)
        assert "✗ sqlite:///arena.db" in self.examined(tmp_path, 1)

    def test_installing_nothing(self, tmp_path: Path) -> None:
        cli.invoke(app, ["init", "--dir", str(tmp_path)])
        done = cli.invoke(app, ["doctor", "--install", "--dir", str(tmp_path)])
        assert done.stdout.startswith("nothing to install")

    def test_missing_extras_are_installed_with_this_python(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ran: list[list[str]] = []
        monkeypatch.setattr(doctor, "needed_extras", lambda players: {"models", "local"})
        monkeypatch.setattr(
            doctor, "_lacking", lambda package, extra: ["xllamacpp"] if extra == "local" else []
        )
        monkeypatch.setattr(
            "subprocess.run", lambda words, check: ran.append(words) or type("Done", (), {"returncode": 0})
        )
        cli.invoke(app, ["init", "--dir", str(tmp_path)])
        doctor.install_missing(tmp_path)
        assert ran[0][1:] == [
            "-P",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "peerage[local]",
        ]

    def test_what_an_extra_lacks_is_read_through_other_packages_extras(self) -> None:
        assert doctor._lacking("peerage", "fast") in ([], ["numba"])
        assert doctor._lacking("peerage", "no-such-extra") == []


def test_players_and_their_prices(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(
        "players:\n  - house:0.5\n"
        "  - {model: openai:a, price: {input: 1.5, output: 6}, pricing_source: contract}\n"
        "  - {model: 'python:json:dumps', name: agent}\n"
    )
    rows = json.loads(cli.invoke(app, ["players", "--format", "json", "--dir", str(tmp_path)]).stdout)
    assert [row["model"] for row in rows] == ["house:0.5", "openai:a", "python:json:dumps"]
    assert (rows[1]["input_usd_per_million"], rows[1]["output_usd_per_million"]) == (1.5, 6.0)
    assert rows[1]["pricing_source"] == "contract"
    assert rows[2]["output_usd_per_million"] is None
    shown = cli.invoke(app, ["players", "--dir", str(tmp_path)]).stdout
    assert "No price is known for agent" in shown


def test_games() -> None:
    rows = json.loads(cli.invoke(app, ["games", "--format", "json"]).stdout)
    duel = next(row for row in rows if row["game"] == "duel")
    assert duel["officials"]["judge"] == [2, 3]
    assert "2 author, 2–5 committee" in cli.invoke(app, ["games"]).stdout
    assert "2–3 judge" in cli.invoke(app, ["games"]).stdout
