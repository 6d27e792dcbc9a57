import re
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.errors import BadInputError
from nvshare.lab.emulator.profile import known_profiles, load_file, load_known, parse_profile

T4 = (files("nvshare.lab.emulator") / "profiles" / "t4.toml").read_text(encoding="utf-8")


def problem_with(old: str, new: str) -> str:
    """Return the complaint about a T4 profile in which one text is replaced by another."""
    assert T4.count(old) == 1
    with pytest.raises(BadInputError) as caught:
        parse_profile(T4.replace(old, new), source="t4.toml")
    return caught.value.what


def test_the_known_profiles() -> None:
    assert known_profiles() == ["a10", "a10-12q", "a100-40g", "h100-80g", "t4", "tiny", "v100-16g"]


@pytest.mark.parametrize("name", known_profiles())
def test_every_known_profile_is_valid(name: str) -> None:
    assert load_known(name).gpu.name


def test_tiny_is_a_t4_in_speed() -> None:
    t4, tiny = load_known("t4"), load_known("tiny")
    assert tiny.engine == t4.engine
    assert tiny.bus == t4.bus
    assert tiny.managed == t4.managed
    assert tiny.memory.bandwidth_gb_per_s == t4.memory.bandwidth_gb_per_s
    assert tiny.memory.total_mib == 256


def test_paging_in_a_12_gb_job_takes_as_long_as_measured() -> None:
    seconds = 11968 * 1024**2 / (load_known("t4").managed.fault_gb_per_s * 1e9)
    assert seconds == pytest.approx(17.5, rel=0.001)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "bandwidth_gb_per_s = 243 ",
            "bandwidth_gb_per_s = 0 ",
            "memory.bandwidth_gb_per_s: must be greater than 0",
        ),
        (
            "multiprocessors = 40 ",
            'multiprocessors = "40" ',
            "gpu.multiprocessors: must be a valid integer",
        ),
        (
            "multiprocessors = 40 ",
            "multiprocessors = true ",
            "gpu.multiprocessors: must be a valid integer",
        ),
        ("duplex = 1.8 ", "duplex = 2.5 ", "bus.duplex: must be less than or equal to 2"),
        ("duplex = 1.8 ", "duplex = nan ", "bus.duplex: must be a finite number"),
        ("queue_depth = ", "queue_length = ", "engine.queue_depth: is missing"),
        (
            "usable_mib = 14913.6875",
            "usable_mib = 15361",
            "memory.usable_mib: must be at most total_mib (15360)",
        ),
        (
            "shared_kib_per_block = 64",
            "shared_kib_per_block = 65",
            "gpu.shared_kib_per_block: must be at most shared_kib_per_multiprocessor (64)",
        ),
        (
            'compute_capability = "7.5"',
            'compute_capability = "75"',
            'gpu.compute_capability: must look like "7.5"',
        ),
        (
            '"Tesla T4"',
            '"Tesla\\nT4"',
            "gpu.name: must be plain ASCII without spaces at its ends",
        ),
        ("[managed]", "[manged]", "managed: is missing"),
    ],
)
def test_an_error_names_the_file_and_the_field(old: str, new: str, problem: str) -> None:
    assert f"t4.toml: {problem}" in problem_with(old, new).splitlines()


def test_an_unknown_field_is_an_error() -> None:
    said = problem_with("[bus]", "[bus]\nlength_m = 0.3")
    assert said == "t4.toml: bus.length_m: is not a field of a profile"


def test_a_value_in_place_of_a_table_is_an_error() -> None:
    with pytest.raises(BadInputError) as caught:
        parse_profile("gpu = 3", source="x.toml")
    assert "x.toml: gpu: must be a table" in caught.value.what.splitlines()


def test_every_wrong_field_is_named_at_once() -> None:
    text = T4.replace("l2_kib = 4096", "l2_kib = 0").replace("duplex = 1.8", "duplex = 0")
    with pytest.raises(BadInputError) as caught:
        parse_profile(text, source="t4.toml")
    assert [line.split(":")[1] for line in caught.value.what.splitlines()] == [
        " gpu.l2_kib",
        " bus.duplex",
    ]


def test_text_that_is_not_toml() -> None:
    with pytest.raises(BadInputError, match=r"x\.toml: not valid TOML") as caught:
        parse_profile("[gpu", source="x.toml")
    assert caught.value.why is not None


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(T4)
    assert load_file(path) == load_known("t4")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_file(tmp_path / "my.toml")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInputError, match="not a text file"):
        load_file(path)


def test_the_manual_lists_exactly_the_fields_there_are() -> None:
    page = (Path(__file__).parents[4] / "docs" / "emulator.md").read_text(encoding="utf-8")
    manual = page.partition("\n## Profiles\n")[2].partition("\n## ")[0]
    fields = [
        f"{table}.{field}"
        for table, content in load_known("t4").model_dump().items()
        for field in content
    ]
    assert re.findall(r"^\| `([a-z]+\.[a-z0-9_]+)` ", manual, re.MULTILINE) == fields
