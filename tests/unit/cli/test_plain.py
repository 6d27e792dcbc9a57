"""Text for an encoding that does not have every character."""

import codecs
import os
import subprocess
import sys

import pytest

from nvshare.cli.plain import plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[NAME=VALUE]…", "[NAME=VALUE]..."),
        ("took ÷ ideal", "took / ideal"),
        ("café", "caf\\xe9"),
        ("日本.py", "\\u65e5\\u672c.py"),
        # A byte of a file name that is no text.
        (os.fsdecode(b"a\xff"), "a\\xff"),
    ],
)
def test_every_character_has_a_plain_form(text: str, written: str) -> None:
    codecs.register_error("plain-for-test", plain)
    assert text.encode("ascii", "plain-for-test") == written.encode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["set", "--help"],
        ["simulate", "--list"],
        ["simulate", "T1"],
        ["emulate", "profiles"],
        ["emulate", "no-such-verb"],
    ],
)
def test_verbs_print_in_ascii(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nvshare", *arguments],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
    )
    assert (done.stdout + done.stderr).isascii()
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 2)


def test_a_closed_standard_error_is_no_obstacle() -> None:
    command = f"{sys.executable} -m nvshare --version 2>&-"
    said = subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE, check=True).stdout
    assert said.startswith(b"nvshare ")
