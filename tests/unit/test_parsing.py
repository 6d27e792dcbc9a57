"""parsing.py: any mistake in a text is one kind of error."""

import pytest

from nvshare.errors import BadInputError
from nvshare.parsing import ParseError, parse_body, parse_json, parse_toml

DEEP = 100_000


def test_trees() -> None:
    assert parse_toml("[gpu]\nmode = 'auto'") == {"gpu": {"mode": "auto"}}
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}
    assert parse_body(b'{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "a = " + "[" * DEEP, f"a = {'9' * 5000}"])
def test_bad_toml(text: str) -> None:
    with pytest.raises(ParseError):
        parse_toml(text)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * DEEP, b'{"a":' * DEEP, b"9" * 5000])
def test_bad_json(text: bytes) -> None:
    with pytest.raises(ParseError):
        parse_json(text)
    with pytest.raises(BadInputError, match="the body is not JSON") as caught:
        parse_body(text)
    assert caught.value.why


def test_a_body_is_an_object() -> None:
    with pytest.raises(BadInputError, match="not a JSON object"):
        parse_body(b"[]")
