import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]

JOURNAL = """\
# written by hand
{"journal": 1}
{"event": {"type": "DeviceAdded", "now": 0, "device": "a", "usable_bytes": 100}, "effects": []}
{"event": {"type": "ClientJoined", "now": 1, "client": 1, "device": "a"}, "effects": [GRANT]}
"""
GRANT = '{"type": "Grant", "client": 1, "turn": 1}'


def test_a_journal_that_still_holds(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "journal"
    file.write_text(JOURNAL.replace("GRANT", GRANT))
    result = call("replay", "--check", str(file))
    assert result.exit_code == 0
    assert result.output == "2 events, 0 decided differently\n"


def test_a_journal_that_is_told_differently(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "journal"
    file.write_text(JOURNAL.replace("GRANT", ""))
    result = call("replay", str(file))
    assert result.exit_code == 1
    assert "line 4:" in result.output
    assert GRANT in result.output
    told = json.loads(call("replay", str(file), "--json").output)
    (difference,) = told["differences"]
    assert difference["line"] == 4
    assert GRANT in difference["now"]


@pytest.mark.parametrize(
    "text",
    ["", "{}", "hello", '{"journal": 1}\n{"event": {"type": "Magic", "now": 1}, "effects": []}'],
)
def test_what_is_no_journal(call: Call, tmp_path: Path, text: str) -> None:
    file = tmp_path / "journal"
    file.write_text(text)
    result = call("replay", str(file))
    assert result.exit_code == 2
    assert "is not a journal" in result.stderr


def test_a_file_that_is_not_there(call: Call) -> None:
    assert call("replay", "/does/not/exist").exit_code == 2
