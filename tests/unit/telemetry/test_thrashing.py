"""Thrashing in words: who, how much, and what to do about it."""

from typing import Any

from nvshare.settings import DeviceSettings
from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus, OutsideProcess, Thrashing
from nvshare.telemetry.thrashing import help_thrashing, say_thrashing

from .making import GIB, make_client, make_gpu

TWO = (make_client(1, thrashes=True), make_client(2, thrashes=True))


def thrashing_gpu(*programs: int, **changes: Any) -> DeviceStatus:
    found = Thrashing(seconds=12.0, programs=programs or (1, 2), memory=24 * GIB, room=14 * GIB)
    return make_gpu(thrashing=found, **changes)


def helps(*clients: ClientStatus, **changes: Any) -> str:
    gpu = thrashing_gpu(*(one.id for one in clients), **changes)
    return help_thrashing(gpu, clients)


def test_it_names_them_and_says_how_much_they_have_and_what_fits() -> None:
    assert say_thrashing(thrashing_gpu(), TWO) == (
        "root/train1.py and root/train2.py page against each other: they run at the same time with "
        "24.0 GiB where GPU 0 has room for 14.0 GiB, and have stood still for 12.0 s."
    )


def test_one_alone_pages_against_itself_beside_outsiders() -> None:
    outside = (OutsideProcess(pid=9, memory=2 * GIB),)
    said = say_thrashing(thrashing_gpu(1, outside=outside), TWO)
    assert said.startswith("root/train1.py pages against itself: it runs with 24.0 GiB where GPU 0")
    assert "has room for 14.0 GiB beside the 2.0 GiB of processes without nvshare, and has" in said
    assert "End the processes without nvshare" in helps(TWO[0], outside=outside)
    assert helps(TWO[0]).startswith("Give it less memory")


def test_where_nothing_thrashes_nothing_is_said() -> None:
    assert say_thrashing(make_gpu(), TWO) == ""
    assert help_thrashing(make_gpu(), TWO) == ""


def test_where_people_switched_turns_off_turns_help() -> None:
    for mode in ("concurrent", "off"):
        settings = DeviceSettings(mode=mode)
        assert helps(*TWO, settings=settings).startswith("`nvshare set --gpu 0 mode=auto`")


def test_elsewhere_one_is_to_be_parked_that_can_give_way() -> None:
    assert helps(*TWO).startswith("`nvshare park 4712` takes one of them off the GPU")
    stuck = make_client(2, thrashes=True, cannot_drain=True)
    assert helps(TWO[0], stuck).startswith("`nvshare park 4711`")
    assert "end one of them" in helps(make_client(1, overdue=True), stuck)


def test_programs_that_have_just_left_have_no_names() -> None:
    assert say_thrashing(thrashing_gpu(7, 8), TWO).startswith("Programs page against each other")
    assert help_thrashing(thrashing_gpu(7, 8), TWO).startswith("Park one of them")
