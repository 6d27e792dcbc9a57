"""The generated files are up to date, and every variable is in the table."""

import re
from pathlib import Path

import pytest

from protocol.errors import TableError
from protocol.generate import generate
from protocol.model import read_environment, read_protocol

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", list(generate()))
def test_a_generated_file_is_as_it_would_be_generated(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == generate()[name], (
        "run: python -m protocol.generate"
    )


def test_every_variable_in_the_sources_is_in_the_table() -> None:
    known = {variable.name for variable in read_environment()}
    native = (path for folder in ("native", "lab") for path in (ROOT / folder).rglob("*.[ch]"))
    sources = [*(ROOT / "src").rglob("*.py"), *native]
    used = {
        name
        for source in sources
        for name in re.findall(r'"(NVSHARE_[A-Z_]+)"', source.read_text(encoding="utf-8"))
    }
    assert used <= known


def test_the_library_is_named_as_a_reader_of_what_it_reads_and_of_nothing_else() -> None:
    named = {variable.name for variable in read_environment() if "library" in variable.readers}
    sources = (ROOT / "native/interposer").rglob("*.c")
    read = {
        f"NVSHARE_{name}"
        for source in sources
        for name in re.findall(r"\bENVIRONMENT_([A-Z_]+)", source.read_text(encoding="utf-8"))
    }
    assert read == named


def write(path: Path, fields: str) -> Path:
    path.write_text(
        "magic = 1\nversion = 1\noldest_version = 1\n"
        "max_payload = 64\nunasked_bytes = 1\nsocket_name = 's'\n"
        "machine_folder = '/s'\n"
        "[enums]\n[flags]\n[ranges.any]\nmeaning = 'a'\n[ranges.bit]\nmost = 1\nmeaning = 'b'\n"
        "[frames.A]\n"
        f'number = 1\nfrom = "client"\nmeaning = "a"\nfields = [{fields}]\n'
    )
    return path


def field(name: str, kind: str, more: str = ', range = "any"') -> str:
    return f'{{ name = "{name}", type = "{kind}", meaning = "m"{more} }},'


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        (field("a", "u32") + field("b", "u64"), "not a multiple"),
        (field("a", "u32"), "fill it up"),
        (field("a", "u13"), "no type"),
        (field("a", "bytes", ", size = 128"), "longer than max_payload"),
        (field("a", "u64", ""), "needs a range"),
        (field("a", "u64", ', range = "nowhere"'), "needs a range"),
    ],
)
def test_a_bad_frame_is_refused(tmp_path: Path, fields: str, complaint: str) -> None:
    with pytest.raises(TableError, match=complaint):
        read_protocol(write(tmp_path / "frames.toml", fields))
