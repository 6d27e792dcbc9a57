"""Every number of every frame at its edges: Python and C accept what the table accepts."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.wire.codec import WireError, client_frames, daemon_frames
from nvshare.wire.frames import HEADER
from protocol.boundaries import PROTOCOL, Case, cases, payload
from tools.record_frames import FOLDER

ROOT = Path(__file__).parents[3]
ALL = [*cases("client"), *cases("daemon")]


def passes(case: Case) -> bool:
    decoder = client_frames() if case.frame.sender == "client" else daemon_frames()
    try:
        (frame,) = decoder.feed(case.bytes)
    except WireError:
        return False
    if case.field.values is None or not case.field.values.is_flags:
        assert getattr(frame, case.field.name) == case.value
    return True


def test_python_lets_pass_what_the_table_does() -> None:
    wrong = [case for case in ALL if passes(case) != case.is_good]
    assert wrong == []
    # Good and bad values both occur, for every kind of range.
    for one in PROTOCOL.ranges:
        judged = {case.is_good for case in ALL if case.field.range is one}
        assert judged == ({True} if one.most is None else {True, False}), one


def test_c_lets_pass_what_the_table_does(judge: Callable[[list[str]], list[str]]) -> None:
    said = judge([f"{case.frame.number} {case.payload.hex()}" for case in ALL])
    assert said == ["good" if case.is_good else "range" for case in ALL]


def test_c_wants_all_fields_that_are_not_optional(judge: Callable[[list[str]], list[str]]) -> None:
    good = [(frame.number, payload(frame, {}).hex()) for frame in PROTOCOL.frames]
    assert set(judge([f"{number} {digits}" for number, digits in good])) == {"good"}
    assert set(judge([f"{number} {digits}00" for number, digits in good])) == {"good"}
    least = [(frame.number, payload(frame, {})[: frame.least_size]) for frame in PROTOCOL.frames]
    assert set(judge([f"{number} {some.hex()}" for number, some in least])) == {"good"}
    assert set(judge([f"{number} {some[:-1].hex()}" for number, some in least])) == {"short"}
    assert judge(["999 "]) == ["good"]


def test_c_reads_what_predecessors_send(judge: Callable[[list[str]], list[str]]) -> None:
    """Among them shorter frames, which lack the fields of later versions."""
    sent = [
        bytes.fromhex(frame["bytes"])
        for path in FOLDER.glob("*.json")
        for frame in json.loads(path.read_text(encoding="utf-8")).values()
    ]
    lines = [f"{HEADER.unpack_from(data)[2]} {data[HEADER.size :].hex()}" for data in sent]
    assert judge(lines) == ["good"] * len(sent)


@pytest.fixture(scope="module")
def judge(build_common: Callable[[Path], Path]) -> Callable[[list[str]], list[str]]:
    program = build_common(ROOT / "native/tests/common_check.c")

    def call(lines: list[str]) -> list[str]:
        done = subprocess.run(
            [program, "check"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.splitlines()

    return call
