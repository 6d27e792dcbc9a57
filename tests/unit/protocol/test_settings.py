"""A setting that is added to the table reaches everything that is generated from it."""

import json
from pathlib import Path
from typing import Any

import pytest

from nvshare.core.policies import policy_names
from protocol import settings_pages, settings_python
from protocol.errors import TableError
from protocol.generate import ROOT, SCHEMA
from protocol.model import FOLDER
from protocol.settings_model import Settings, read_settings

TABLE = (FOLDER / "settings.toml").read_text(encoding="utf-8")
NAP = """
[nap_seconds]
place = "gpu"
kind = "seconds"
word = "off"
default = 0
clock = "gpu"
core = true
brief = "how long a nap is"
meaning = "how long a *nap* is"

"""


def read(folder: Path, text: str) -> Settings:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return read_settings(path)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read(
        tmp_path, TABLE.replace("\n[removed]\n", f"{NAP}[removed]\nnaps = 'sleep instead'\n")
    )


def test_it_is_in_all_modules(settings: Settings) -> None:
    core: dict[str, Any] = {}
    exec(settings_python.core_module(settings), core)  # noqa: S102 (it is ours)
    assert core["SettingFields"]().nap_seconds is None
    with pytest.raises(ValueError, match="nap_seconds must be more than 0"):
        core["SettingFields"](nap_seconds=0.0)
    fields = settings_python.fields_module(settings)
    assert "    # How long a nap is.\n    nap_seconds: SecondsOrOff = 0.0\n" in fields
    table: dict[str, Any] = {}
    exec(settings_python.table_module(settings), table)  # noqa: S102
    (setting,) = (one for one in table["GPU"] if one.name == "nap_seconds")
    assert (setting.is_paced, setting.to_core(0.0), setting.to_core(2.0)) == (True, None, 2.0)
    assert table["REMOVED"]["naps"] == "sleep instead"


def test_it_is_in_the_chart_and_in_the_documentation(settings: Settings) -> None:
    schema = json.loads(settings_pages.with_schema((ROOT / SCHEMA).read_text(), settings))
    properties = schema["properties"]["settings"]["properties"]
    number = {"$ref": "#/definitions/notNegative"}
    assert properties["nap_seconds"] == {"anyOf": [number, {"const": "off"}]}
    assert properties["naps"] == {}
    assert 'naps: "sleep instead"\n' in settings_pages.refusals(settings)
    page = "<!-- settings: gpu, from protocol/settings.toml -->\n| `gone` |\n"
    page += "<!-- end of settings -->\n"
    text = settings_pages.with_tables(page, settings)
    assert "| `nap_seconds` | 0 | how long a *nap* is |\n" in text
    assert "`gone`" not in text
    assert settings_pages.with_tables(text, settings) == text


def test_nothing_else_in_the_schema_changes(settings: Settings) -> None:
    before = json.loads((ROOT / SCHEMA).read_text())
    after = json.loads(settings_pages.with_schema((ROOT / SCHEMA).read_text(), settings))
    for one in (before, after):
        del one["properties"]["settings"]
    assert before == after


def test_a_person_has_twelve_of_a_gpu_at_most() -> None:
    assert len(read_settings(FOLDER / "settings.toml").of("gpu")) <= 12


def test_the_default_policy_exists() -> None:
    (policy,) = (one for one in read_settings(FOLDER / "settings.toml").all if one.kind == "policy")
    assert policy.default in policy_names()


def test_a_page_or_a_schema_without_its_place_is_a_mistake(settings: Settings) -> None:
    page = "<!-- settings: some, from protocol/settings.toml -->\n<!-- end of settings -->\n"
    with pytest.raises(TableError, match="no settings of some"):
        settings_pages.with_tables(page, settings)
    with pytest.raises(TableError, match="has no settings"):
        settings_pages.with_schema("{}", settings)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('kind = "seconds"', 'kind = "colour"', "kind is one of"),
        ('clock = "gpu"\n', "", "lacks clock"),
        ('clock = "gpu"', 'clock = "sun"', "clock is one of gpu, real"),
        ('place = "gpu"', 'place = "attic"', "place is one of"),
        ('kind = "seconds"', 'kind = "switch"', "switch has no clock, word"),
        ('word = "off"', 'word = "auto"', "it has a default, unless its word is auto"),
        ("default = 0\n", "", "it has a default, unless its word is auto"),
        ("default = 0", "default = 0\npositive = true", "off stands for 0 seconds"),
        ("[removed]", "[removed]\nnap_seconds = 'x'", "it is there, and was removed"),
        ('place = "gpu"', 'place = "core"', "seconds has no meaning"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    added = f"{NAP}[removed]\n"
    assert old in added
    with pytest.raises(TableError, match=complaint):
        read(tmp_path, TABLE.replace("\n[removed]\n", added.replace(old, new)))


def test_a_choice_has_its_default_and_the_core_its_enumeration(tmp_path: Path) -> None:
    for old, new, complaint in (
        ('default = "balanced"', 'default = "never"', "not among the choices"),
        ('enum = "Interactive"\n', "", "the core needs an enumeration"),
    ):
        with pytest.raises(TableError, match=complaint):
            read(tmp_path, TABLE.replace(old, new))
