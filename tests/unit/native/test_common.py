"""quantity.c, log.c and the small functions of frame.c, called from a program of their own."""

import contextlib
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.errors import BadInputError
from nvshare.quantity import parse_quantity

ROOT = Path(__file__).parents[3]
LIMIT = 1024


@pytest.fixture(scope="session")
def program(build_common: Callable[[Path], Path]) -> Path:
    return build_common(ROOT / "native/tests/common_check.c")


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(program: Path) -> Run:
    def call(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [program, *arguments],
            env={"PATH": os.environ["PATH"], **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done

    return call


def in_python(text: str) -> str:
    try:
        return str(parse_quantity(text))
    except BadInputError as error:
        return "ERANGE" if "too much" in error.what else "EINVAL"


QUANTITIES = st.one_of(
    st.from_regex(
        r"[0-9]{0,21}(\.[0-9]{0,9})?(k|K|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|mi|b)?", fullmatch=True
    ),
    st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=8),
)


class TestQuantity:
    def test_known_values(self, run: Run) -> None:
        texts = ["4Gi", "1500Mi", "2G", "1.5Gi", "0.1", "1024", "0", "16Pi", "18446744073709551615"]
        assert run("quantity", *texts).stdout.split() == [str(parse_quantity(t)) for t in texts]

    def test_python_agrees(self, run: Run) -> None:
        # One process for many texts: collected first, compared after.
        texts: list[str] = []

        @given(QUANTITIES)
        def collect(text: str) -> None:
            texts.append(text)

        collect()
        assert run("quantity", *texts).stdout.splitlines() == [in_python(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "field"),
    [("", b""), ("1.2", b"1.2"), ("1234567", b"1234567"), ("123456789", b"1234567")],
)
def test_a_text_is_cut_and_filled_up(run: Run, text: str, field: bytes) -> None:
    assert bytes.fromhex(run("text", text).stdout) == field.ljust(8, b"\0")


def test_sizes_for_people(run: Run) -> None:
    sizes = [0, (1 << 20) - 1, 1 << 20, 1536 << 20, (1 << 30) - 1, 1 << 30, 12 * 10**9, 2**64 - 1]
    assert run("size", *map(str, sizes)).stdout.splitlines() == [
        *(
            "0 bytes",
            "1048575 bytes",
            "1.0 MiB",
            "1.5 GiB",
            "1023.9 MiB",
            "1.0 GiB",
            "11.1 GiB",
            "17179869183.9 GiB",
        )
    ]


def test_fields_are_taken_from_long_payloads_only(run: Run) -> None:
    run("take")


class TestLog:
    def test_stderr_gets_warnings_only(self, run: Run) -> None:
        done = run("log", "hello", NVSHARE_LOG="debug")
        assert done.stdout == ""
        assert re.fullmatch(
            r"nvshare\[\d+\]: warning: hello\nnvshare\[\d+\]: warning: once hello\n", done.stderr
        )

    @pytest.mark.parametrize(("level", "lines"), [("debug", 4), ("info", 3), ("warn", 2), ("", 2)])
    def test_a_file_gets_what_the_level_says(
        self, run: Run, tmp_path: Path, level: str, lines: int
    ) -> None:
        file = tmp_path / "log"
        done = run("log", "hello", NVSHARE_LOG=level, NVSHARE_LOG_FILE=str(file))
        assert (done.stdout, done.stderr) == ("", "")
        assert len(file.read_text().splitlines()) == lines

    def test_a_level_that_does_not_exist_is_a_warning(self, run: Run) -> None:
        assert 'NVSHARE_LOG is "loud"' in run("log", "x", NVSHARE_LOG="loud").stderr

    def test_a_file_that_cannot_be_opened_is_a_warning(self, run: Run) -> None:
        done = run("log", "x", NVSHARE_LOG_FILE="/nonexistent/log")
        assert "/nonexistent/log cannot be opened: No such file" in done.stderr

    def test_a_closed_standard_error_harms_nobody(self, program: Path) -> None:
        command = f"{program} log hello 2>&-"
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=30)
        assert (done.returncode, done.stdout) == (0, b"")

    def test_a_full_pipe_is_not_waited_for(self, program: Path) -> None:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(writer, b"x" * 4096):
                pass
        os.set_blocking(writer, True)
        done = subprocess.run([str(program), "log", "hello"], stderr=writer, timeout=30)
        os.close(reader)
        os.close(writer)
        assert done.returncode == 0

    def test_a_file_that_took_the_number_of_standard_error_is_left_alone(
        self, program: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "file"
        command = [str(program), "log-reused", str(file)]
        done = subprocess.run(command, capture_output=True, check=True)
        assert (done.stderr, file.read_bytes()) == (b"", b"")

    def test_a_pipe_that_nobody_reads_ends_nobody(self, program: Path) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([str(program), "log", "hello"], stderr=writer, timeout=30)
        os.close(writer)
        assert done.returncode == 0

    def test_a_long_line_is_cut(self, run: Run) -> None:
        first = run("log", "x" * 5000).stderr.splitlines()[0]
        assert len(first) == LIMIT - 1

    def test_lines_stay_whole(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "log"
        run("log-threads", "200", NVSHARE_LOG="info", NVSHARE_LOG_FILE=str(file))
        lines = file.read_text().splitlines()
        assert len(lines) == 5 * 200
        assert all(
            re.fullmatch(r"nvshare\[\d+\] \d+\.\d{9}: \w+ \d+ 0{200}", line) for line in lines
        )
