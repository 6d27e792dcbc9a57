import pytest

from nvshare.cli.top.keys import keys


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"jq", ["j", "q"]),
        (b"\x1b[A\x1b[B\x1bOA", ["up", "down", "up"]),
        (b"\x1b", ["escape"]),
        (b"\r\n\x7f\x03", ["enter", "enter", "backspace", "quit"]),
        ("ü/".encode(), ["ü", "/"]),
        # Keys that mean nothing: F5, page down, a mouse, half a sequence, bytes that are no text.
        (b"\x1b[15~\x1b[6~x", ["x"]),
        (b"\x1b[M !!", [" ", "!", "!"]),
        (b"\x1b[1", []),
        (b"\xff\x00a", ["a"]),
    ],
)
def test_bytes_become_keys(data: bytes, found: list[str]) -> None:
    assert list(keys(data)) == found
