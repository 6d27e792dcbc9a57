"""A limit that is added to the table reaches everything that is generated from it."""

from pathlib import Path

import pytest

from protocol import limits_c, limits_pages, limits_python
from protocol.errors import TableError
from protocol.limits_model import Limit, read_limits
from protocol.model import FOLDER, read_environment, read_protocol

TODAY = read_limits(FOLDER / "limits.toml")
FREE = {frame.name: len(frame.fields) for frame in read_protocol().frames}
PACE = f"""
[pace_limit]
kind = "number"
least = 2
most = 50
unit = "ms"
label = "pace"
meaning = "longest kernel that it may launch"
option = "pace"
metavar = "MS"
help_run = "Longest kernel."
help_limit = "Longest kernel, or none."
page = {{ title = "Pace", hint = "2 to 50; empty: none" }}
scenario = "the longest kernel"
ceiling = "longest kernel of each container"

[pace_limit.variable]
name = "NVSHARE_GPU_PACE"
meaning = "Longest kernel."

[pace_limit.annotation]
name = "gpu-pace"
values = "`2` to `50`"
meaning = "longest kernel"

[pace_limit.field]
type = "u64"
range = "any"
optional = true
hello = {{ place = {FREE["HELLO"]}, meaning = "milliseconds; 0: none" }}
limits = {{ place = {FREE["LIMITS"]}, meaning = "milliseconds; 0: none" }}
"""


def folder_with(tmp_path: Path, more: str, old: str = "", new: str = "") -> Path:
    """Make a copy of all tables, with more limits."""
    assert old in PACE
    for name in ("frames", "environment", "limits"):
        text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
        more_text = more.replace(old, new) if name == "limits" else ""
        (tmp_path / f"{name}.toml").write_text(text + more_text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def limits(tmp_path: Path) -> tuple[Limit, ...]:
    return read_limits(folder_with(tmp_path, PACE) / "limits.toml")


def test_it_travels_behind_all_that_was_there_before(tmp_path: Path) -> None:
    before = {frame.name: frame for frame in read_protocol().frames}
    after = read_protocol(folder_with(tmp_path, PACE) / "frames.toml").frames
    for frame in after:
        old = before[frame.name]
        assert frame.fields[: len(old.fields)] == old.fields
        # A peer of today sends less, and is understood.
        assert frame.least_size == old.least_size
        more = [field.name for field in frame.fields[len(old.fields) :]]
        assert more == (["pace_limit"] if frame.name in ("HELLO", "LIMITS") else [])


def test_a_field_that_comes_later_comes_behind_it(tmp_path: Path) -> None:
    path = folder_with(tmp_path, PACE) / "frames.toml"
    later = '    { name = "later", optional = true, type = "u64", range = "any", meaning = "x" },\n'
    head, tail = path.read_text(encoding="utf-8").split("[frames.WANT]")
    path.write_text(head.rstrip()[:-1] + later + "]\n\n[frames.WANT]" + tail, encoding="utf-8")
    hello = read_protocol(path).frames[0]
    assert [field.name for field in hello.fields][FREE["HELLO"] :] == ["pace_limit", "later"]


def test_it_is_in_everything_that_is_generated(tmp_path: Path, limits: tuple[Limit, ...]) -> None:
    (variable,) = [
        one
        for one in read_environment(tmp_path / "environment.toml")
        if one.name == "NVSHARE_GPU_PACE"
    ]
    assert (variable.type, variable.default, variable.readers) == ("number", "", ("library",))
    assert "    pace_limit: int | None = None\n" in limits_python.core_module(limits)
    assert '        variable="NVSHARE_GPU_PACE",\n' in limits_python.table_module(limits)
    fields = limits_python.fields_module(limits)
    assert "PaceLimit: TypeAlias = Annotated[int, Field(ge=2, le=50), WHOLE]\n" in fields
    assert fields.count("pace_limit: ") == 2
    assert "    pace: PaceLimit | None = None\n" in fields
    source = limits_c.limits_source(limits)
    assert "limits->pace_limit = variable_number(ENVIRONMENT_GPU_PACE, 2, 50, wrong);\n" in source
    assert "hello->pace_limit = limits->pace_limit;\n" in source
    assert "uint64_t pace_limit;" in limits_c.limits_header(limits)
    assert '"Pace"' in limits_pages.page_script(limits)


@pytest.mark.parametrize("rows", list(limits_pages.ROWS))
def test_it_has_a_row_in_every_table(limits: tuple[Limit, ...], rows: str) -> None:
    page = f"<!-- {rows}, from protocol/limits.toml -->\n| `allocation` | a |\n| old |\n"
    page += "<!-- end of limits -->\n"
    text = limits_pages.with_rows(page, limits)
    assert sum("pace" in line for line in text.splitlines()) == 1
    # The row of allocation stays, and no other.
    assert "| `allocation` | a |\n<!-- end of limits -->\n" in text
    assert "old" not in text
    assert limits_pages.with_rows(text, limits) == text


def test_rows_that_nobody_knows_are_a_mistake() -> None:
    page = "<!-- limits: some, from protocol/limits.toml -->\n<!-- end of limits -->\n"
    with pytest.raises(TableError, match="no rows called limits: some"):
        limits_pages.with_rows(page, TODAY)


def test_a_schema_without_ceilings_is_a_mistake() -> None:
    with pytest.raises(TableError, match="no ceiling"):
        limits_pages.with_schema("{}", TODAY)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('kind = "number"', 'kind = "amount"', "amount has no least, most, unit"),
        ('kind = "number"', 'kind = "colour"', "kind is one of"),
        ('label = "pace"', "", "lacks label"),
        ("least = 2", "least = 0", "no number is from least to most"),
        ('option = "pace"', 'option = "memory"', "two limits have the same option"),
        ('option = "pace"', 'option = "pace"\nkey = "x"', "a key needs a prompt"),
        ("hello = { place = ", "hello = { place = 9", "no free place of HELLO"),
        (f"place = {FREE['LIMITS']}", "place = 0", "0 is no free place of LIMITS"),
        ("hello = { place", "goodbye = { place", "it has no place in HELLO"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    folder = folder_with(tmp_path, PACE, old, new)
    with pytest.raises(TableError, match=complaint):
        read_protocol(folder / "frames.toml")
