"""node.conf as the model reads it: impossible values are refused by name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.lab.emulator.gpus import MAX_GPUS

from .play import MS, US, Play, S

Begin = Callable[..., Play]

NEEDED = [
    "bandwidth",
    "h2d_bandwidth",
    "d2h_bandwidth",
    "peer_bandwidth",
    "duplex_permille",
    "fault_bandwidth",
    "fault_evict_bandwidth",
    "populate_bandwidth",
    "slice_ns",
    "queue_depth",
]


@pytest.mark.parametrize("key", NEEDED)
def test_what_is_divided_by_is_not_zero(begin: Begin, key: str) -> None:
    assert begin("t4", **{key: 0}).problem == f"gpu 0: {key} is zero"


@pytest.mark.parametrize("key", NEEDED)
def test_but_it_may_be_one(begin: Begin, key: str) -> None:
    play = begin("tiny", **{key: 1})
    assert play.problem is None
    process = play.process()
    queue, other = process.queue(), play.process().queue()
    queue.work(0, 1, 0, [process.range(1)])
    other.copy_in(1)
    play.advance(10**7 * S)
    assert len(queue.finished()) == len(other.finished()) == 1


@pytest.mark.parametrize("key", ["switch_ns", "launch_ns", "context_bytes", "usable_bytes"])
def test_some_things_may_be_nothing(begin: Begin, key: str) -> None:
    play = begin("tiny", **{key: 0})
    assert play.problem is None
    process = play.process()
    assert process.context() == (-12 if key == "usable_bytes" else 0)
    queue, other = process.queue(), play.process().queue()
    queue.work(0, 5 * MS, 0, [process.range(3)])
    other.kernel(5 * MS)
    play.advance(S)
    assert len(queue.finished()) == len(other.finished()) == 1


def test_a_key_that_is_missing_is_named(begin: Begin, make_conf: Callable[..., Path]) -> None:
    play = begin("t4")
    path = make_conf("t4")
    text = path.read_text()
    path.write_text("".join(line for line in text.splitlines(True) if "launch_ns" not in line))
    assert play.ask("begin", path) == "gpu 0 has no launch_ns"
    play.problem = "ended on purpose"


@pytest.mark.parametrize("value", ["", "-5", " 5", "+5", "5us", "1e3", "99999999999999999999"])
def test_a_number_is_made_of_digits(
    begin: Begin, make_conf: Callable[..., Path], value: str
) -> None:
    play = begin("t4")
    path = make_conf("t4")
    path.write_text(path.read_text().replace("launch_ns=5000", f"launch_ns={value}"))
    assert f"is not understood: launch_ns={value}" in play.ask("begin", path)
    play.problem = "ended on purpose"


@pytest.mark.parametrize("value", ["", "fast", "0", "-1", "nan", "inf", "1,5"])
def test_a_speed_is_a_positive_number(
    begin: Begin, make_conf: Callable[..., Path], value: str
) -> None:
    play = begin("t4")
    path = make_conf("t4")
    path.write_text(path.read_text().replace("speed=1", f"speed={value}"))
    assert "speed" in play.ask("begin", path)
    play.problem = "ended on purpose"


@pytest.mark.parametrize("count", [1, MAX_GPUS])
def test_as_many_gpus_as_fit(begin: Begin, count: int) -> None:
    play = begin(f"{count}xtiny")
    process = play.process()
    queues = [process.queue(gpu) for gpu in range(count)]
    for queue, before in zip(queues[1:], queues, strict=False):
        queue.wait(before, 1)
    for queue in queues:
        queue.kernel(MS)
    play.advance(S)
    assert queues[0].finished() == [5 * US + MS]
    assert len(play.report()["gpus"]) == count


def test_one_gpu_too_many_is_refused(begin: Begin, make_conf: Callable[..., Path]) -> None:
    play = begin("tiny")
    path = make_conf(f"{MAX_GPUS}xtiny")
    text = path.read_text()
    path.write_text(text + text[text.rindex("[gpu]") :])
    assert "not understood: [gpu]" in play.ask("begin", path)
    play.problem = "ended on purpose"
