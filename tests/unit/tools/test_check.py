"""The areas of `make check`, and their list in CONTRIBUTING.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.check import ROOT, areas, commands_of_tests, lint_commands, markdown, run

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.\w+)`")


def test_contributing_has_the_table() -> None:
    assert f"<!-- areas -->\n\n{markdown()}\n<!-- areas end -->" in CONTRIBUTING, (
        "put the output of `python -m tools.check --table` there"
    )


@pytest.mark.parametrize("name", list(areas()))
def test_everything_in_an_area_exists(name: str) -> None:
    area = areas()[name]
    paths = [*area.files, *area.tests, *(step for step in area.then if step.startswith("tests/"))]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    targets = [step.split()[1] for step in area.then if step.startswith("make ")]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_every_package_is_in_an_area() -> None:
    files = {file for area in areas().values() for file in area.files}
    sources = ROOT / "src/nvshare"
    found = [*sources.glob("*/__init__.py"), *sources.glob("lab/*/__init__.py")]
    names = {str(path.parent.relative_to(ROOT)) for path in found}
    # The first is native/machine, seen from Python; the second has its parts in areas.
    assert names - files == {"src/nvshare/machine", "src/nvshare/lab"}


def test_one_area_is_linted_and_tested_by_itself() -> None:
    core = [areas()["core"]]

    assert lint_commands(core)[0][:3] == ("ruff", "check", "--quiet")
    assert "src/nvshare/core" in lint_commands(core)[0]
    assert not any("clang-format" in command for command in lint_commands(core))
    (command,) = commands_of_tests(core)
    assert "tests/replay" in command
    assert "tests/unit/daemon" not in command


def test_of_several_areas_each_file_is_in_one_of_several_parts() -> None:
    commands = commands_of_tests([areas()["core"], areas()["daemon"]])
    parts = [[word for word in command if word.startswith("tests/")] for command in commands]
    assert len(parts) > 1
    assert all(parts)
    files = [file for part in parts for file in part]
    folders = ("tests/unit/core", "tests/replay", "tests/unit/daemon")
    found = {path for folder in folders for path in (ROOT / folder).rglob("test_*.py")}
    assert sorted(files) == sorted(str(path.relative_to(ROOT)) for path in found)


def test_c_is_formatted_where_there_is_any() -> None:
    (command,) = [one for one in lint_commands([areas()["gate"]]) if one[0] == "clang-format"]
    assert str(ROOT / "native/interposer/gate/gate.c") in command


def test_what_a_tool_says_is_kept() -> None:
    done = run(("python", "-c", "print('no'); raise SystemExit(3)"))
    assert (done.code, done.said) == (3, "no\n")


def test_an_area_that_does_not_exist() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.check", "kore"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "there is no area 'kore'; the areas are core, gate" in done.stderr


def recipes() -> dict[str, str]:
    part = CONTRIBUTING.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    found = re.split(r"\n### ", part)[1:]
    return {text.partition("\n")[0]: text for text in found}


def test_there_is_a_recipe_for_what_people_add() -> None:
    assert list(recipes()) == [
        "Add a hook",
        "Add a frame, or a field of one",
        "Add a setting",
        "Add a limit of a program",
        "Add a metric",
        "Add a scenario",
    ]


@pytest.mark.parametrize("name", list(recipes()))
def test_every_file_of_a_recipe_exists(name: str) -> None:
    files = FILE.findall(recipes()[name])
    assert files
    assert [file for file in files if not Path(ROOT, file).is_file()] == []
