"""Which client a model's text opens, and what is said when it cannot."""

import subprocess
import sys
from pathlib import Path

import pytest

from peerage.players import open_client
from peerage.players.client import Client
from peerage.settings import PlayerSettings, SettingsError


@pytest.mark.parametrize(
    ("model", "client"),
    [
        ("house:0.5", "HouseClient"),
        ("openai:gpt-4o", "ProviderClient"),
        ("ollama:llama3", "ProviderClient"),
        ("command:true", "CommandClient"),
        ("python:m:f", "FunctionClient"),
        ("http://h/agent", "EndpointClient"),
        ("https://h/agent", "EndpointClient"),
    ],
)
def test_the_prefix_decides(model: str, client: str) -> None:
    opened: Client = open_client(PlayerSettings(model=model), {}, Path())
    assert type(opened).__name__ == client


@pytest.mark.parametrize(
    ("model", "module", "extra"),
    [
        ("openai:gpt-4o", "openai", "models"),
        ("openai:gpt-4o", "pydantic_ai", "models"),
        ("anthropic:claude-haiku-4-5", "anthropic", "anthropic"),
        ("google:gemini-2.5-flash", "google.genai", "google"),
        ("http://h/agent", "aiohttp", "models"),
        ("gguf:m.gguf", "xllamacpp", "local"),
    ],
)
def test_a_missing_library_names_the_extra(model: str, module: str, extra: str) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: raise ModuleNotFoundError(f'No module named {{name}}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from peerage.players import open_client\n"
        "from peerage.settings import PlayerSettings, SettingsError\n"
        "try:\n"
        f"    open_client(PlayerSettings(model={model!r}, name='P'), {{}}, Path())\n"
        "except SettingsError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("P: ")
    assert module in said
    assert f"pip install 'peerage[{extra}]'" in said
    assert "peerage doctor --install" in said


def test_a_package_adds_players_through_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "parrots-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: parrots\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[peerage.players]\nparrot = parrots_under_test:open_parrot\n")
    (tmp_path / "parrots_under_test.py").write_text(
        "class Parrot:\n    def __init__(self, *about):\n        self.about = about\n\nopen_parrot = Parrot\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    settings = PlayerSettings.model_construct(model="parrot:green", name="Polly")
    client = open_client(settings, {"A": "b"}, tmp_path)
    assert client.about == (settings, {"A": "b"}, tmp_path)  # type: ignore[attr-defined]


def test_nobody_serves_an_unknown_prefix() -> None:
    with pytest.raises(SettingsError, match="base_url"):
        open_client(PlayerSettings.model_construct(model="nobody:x", name="P"), {}, Path())


def test_opening_a_house_player_loads_no_provider_library() -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom peerage.players import open_client\n"
        "from peerage.settings import PlayerSettings\n"
        "open_client(PlayerSettings(model='house:0.5'), {}, Path())\n"
        "heavy = ('openai', 'pydantic_ai', 'aiohttp', 'anthropic', 'xllamacpp')\n"
        "print([module for module in heavy if module in sys.modules])\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
