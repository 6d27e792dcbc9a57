"""Which clients form a group, its limits, and the names by which people can refer to it."""

import errno
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nvshare.daemon.groups.groups import Group, Groups, Member, key_of, together
from nvshare.daemon.groups.names import find_group, name_of
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.tenants.identity import Identity
from nvshare.errors import BadInputError
from nvshare.settings import ClientLimits, Orders
from nvshare.telemetry.pod_orders import ContainerOrders, PodOrders
from nvshare.wire.frames import Hello

GPU = "GPU-1"
TOKEN = b"0123456789abcdef"
ONE = Identity(7, 1000, 1000, "train.py", started=70)
IN_POD = Identity(8, 0, 0, "serve", "uid-1", "a" * 64, 80)


def member(who: Identity, **limits: Any) -> Member:
    return Member(who, ClientLimits(**limits))


def hello(token: bytes = bytes(16)) -> Hello:
    return cast("Hello", SimpleNamespace(group=token))


@pytest.fixture
def pods() -> Pods:
    pods = Pods()
    main = ContainerOrders("main", Orders(memory_limit=500))
    pods.set("uid-1", PodOrders("team", "trainer", Orders(), {"a" * 64: main}))
    return pods


@pytest.fixture
def groups(tmp_path: Path, pods: Pods) -> Groups:
    return Groups(tmp_path / "groups", pods)


@pytest.mark.parametrize(
    ("who", "token", "own", "key"),
    [
        (IN_POD, TOKEN, "", f"container-{'a' * 64}"),
        (IN_POD, TOKEN, "a" * 64, f"run-0-{TOKEN.hex()}"),
        (ONE, TOKEN, "", f"run-1000-{TOKEN.hex()}"),
        (ONE, bytes(16), "", "process-7-70"),
        (replace(ONE, pid=0), bytes(16), "", "client-3"),
    ],
)
def test_what_processes_have_in_common(who: Identity, token: bytes, own: str, key: str) -> None:
    assert key_of(who, token, 3, own) == key


def test_the_tightest_environment_holds_for_all() -> None:
    assert together([]) == ClientLimits()
    assert together(
        [
            ClientLimits(memory_limit=5, burst=True, priority="high"),
            ClientLimits(memory_limit=3, compute_percent=40, priority="low"),
            ClientLimits(burst=True),
        ]
    ) == ClientLimits(memory_limit=3, compute_percent=40, priority="low")
    assert together([ClientLimits(burst=True), ClientLimits(burst=True)]).burst is True


def test_members_of_a_run_share_limits_and_a_page(groups: Groups) -> None:
    group = groups.enter(member(ONE, memory_limit=100), 1, hello(TOKEN))
    first = groups.take_slot(group, GPU, 0)
    other = replace(ONE, pid=9)
    assert groups.enter(member(other, memory_limit=90), 2, hello(TOKEN)) is group
    second = groups.take_slot(group, GPU, 0)
    assert first is not None
    assert second is not None
    assert first[0] is second[0]
    assert (first[1], second[1]) == (0, 1)
    assert first[0].limit == groups.limits(group).memory_limit == 90
    groups.leave(group, 2, GPU, second[2])
    assert groups.limits(group).memory_limit == 100
    groups.leave(group, 1, GPU, first[2])
    assert list(groups.all()) == []


def test_orders_go_over_what_was_set_and_that_over_the_environment(
    groups: Groups, pods: Pods
) -> None:
    group = groups.enter(member(IN_POD, memory_limit=100, compute_percent=10), 1, hello())
    assert groups.limits(group) == ClientLimits(memory_limit=500, compute_percent=10)
    groups.choose(group, {"memory_limit": 200, "compute_percent": 20, "priority": "normal"})
    assert groups.limits(group) == ClientLimits(memory_limit=500, compute_percent=20)
    assert groups.sources(group) == {"memory_limit": "pod", "compute_percent": "set"}
    pods.set("uid-1", None)
    assert groups.limits(group).memory_limit == 200
    groups.choose(group, {"memory_limit": None})
    assert groups.limits(group).memory_limit is None
    assert groups.sources(group) == {"compute_percent": "set"}


def test_the_next_daemon_takes_everything_up(tmp_path: Path, pods: Pods) -> None:
    before = Groups(tmp_path / "groups", pods)
    group = before.enter(member(ONE), 1, hello(TOKEN))
    before.enter(member(ONE), 2, hello(TOKEN))
    first, second = before.take_slot(group, GPU, 0), before.take_slot(group, GPU, 0)
    assert first is not None
    assert second is not None
    before.choose(group, {"memory_limit": 300})
    kept = os.dup(first[0].descriptor)
    before.close()

    after = Groups(tmp_path / "groups", pods)
    assert after.awaits_page(ONE, hello(TOKEN), GPU)
    again = after.enter(member(ONE), 5, hello(TOKEN))
    assert after.limits(again).memory_limit == 300
    place = after.take_slot(again, GPU, first[2], os.dup(kept))
    assert not after.awaits_page(ONE, hello(TOKEN), GPU)
    assert place is not None
    assert place[1:] == first[1:]
    # It leaves before the other has come back, which finds everything all the same.
    after.leave(again, 5, GPU, first[2])
    late = after.enter(member(ONE), 6, hello(TOKEN))
    assert after.limits(late).memory_limit == 300
    place = after.take_slot(late, GPU, second[2], kept)
    assert place is not None
    assert place[1:] == second[1:]
    after.leave(late, 6, GPU, second[2])
    assert [path.name for path in (tmp_path / "groups").iterdir()] == []


def test_who_does_not_come_back_is_forgotten(tmp_path: Path, pods: Pods) -> None:
    before = Groups(tmp_path / "groups", pods)
    gone = before.enter(member(ONE), 1, hello())
    before.take_slot(gone, GPU, 0)
    before.choose(gone, {"memory_limit": 300})
    before.close()
    after = Groups(tmp_path / "groups", pods)
    stays = after.enter(member(ONE), 1, hello(TOKEN))
    after.take_slot(stays, GPU, 0)
    after.forget_missing()
    assert [path.name for path in (tmp_path / "groups").iterdir()] == [f"{stays.key}.{GPU}.page"]
    after.close()


def test_without_a_page_members_are_limited_one_by_one(
    groups: Groups, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    group = groups.enter(member(ONE), 1, hello())

    def refuse(_name: str) -> int:
        raise OSError(errno.ENFILE, "Too many open files in system")

    monkeypatch.setattr("nvshare.daemon.groups.quota_page.memory_file", refuse)
    assert groups.take_slot(group, GPU, 0) is None
    assert "each process is limited by itself" in caplog.text
    groups.leave(group, 1, GPU, 0)


def test_a_limit_holds_until_all_who_set_it_can_be_back(tmp_path: Path, pods: Pods) -> None:
    before = Groups(tmp_path / "groups", pods)
    group = before.enter(member(ONE), 1, hello(TOKEN))
    before.enter(member(replace(ONE, pid=9), memory_limit=100), 2, hello(TOKEN))
    place = before.take_slot(group, GPU, 0)
    assert place is not None
    kept = os.dup(place[0].descriptor)
    before.close()
    after = Groups(tmp_path / "groups", pods)
    group = after.enter(member(ONE), 1, hello(TOKEN))
    place = after.take_slot(group, GPU, place[2], kept)
    assert place is not None
    assert (after.limits(group).memory_limit, place[0].limit) == (None, 100)
    after.forget_missing()
    assert place[0].limit is None
    after.close()


def test_the_page_of_another_group_is_not_taken_up(groups: Groups) -> None:
    mine = groups.enter(member(ONE, memory_limit=100), 1, hello(TOKEN))
    place = groups.take_slot(mine, GPU, 0)
    assert place is not None
    theirs = groups.enter(member(replace(ONE, pid=9), memory_limit=1), 2, hello())
    other = groups.take_slot(theirs, GPU, place[2], os.dup(place[0].descriptor))
    assert other is not None
    assert other[0].file != place[0].file
    assert (place[0].limit, other[0].limit) == (100, 1)
    groups.close()


@pytest.fixture
def three(groups: Groups) -> list[Group]:
    return [
        groups.enter(member(ONE), 1, hello(TOKEN)),
        groups.enter(member(replace(ONE, pid=9)), 2, hello()),
        groups.enter(member(IN_POD), 3, hello()),
    ]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("7", 0),
        ("9", 1),
        ("pid:9", 1),
        ("2", 1),
        ("id:2", 1),
        # The old way to write it.
        ("#2", 1),
        ("process-9-70", 1),
        ("serve", 2),
        ("trainer", 2),
        ("team/trainer", 2),
        ("team/trainer/main", 2),
        ("main", 2),
        ("aaaaaaaa", 2),
    ],
)
def test_what_a_group_can_be_called(
    groups: Groups, pods: Pods, three: list[Group], name: str, number: int
) -> None:
    assert find_group(groups, pods, name) is three[number]


@pytest.mark.usefixtures("three")
def test_names_that_mean_nobody_or_several(groups: Groups, pods: Pods) -> None:
    with pytest.raises(BadInputError, match='no program is called "aaa"') as nobody:
        find_group(groups, pods, "aaa")
    pair = "train.py (id 1, pid 7); train.py (id 2, pid 9)"
    assert f"{pair}; team/trainer/main (id 3, pid 8)" in str(nobody.value.why)
    with pytest.raises(BadInputError, match="can mean 2 groups") as several:
        find_group(groups, pods, "train.py")
    assert pair in str(several.value.why)
    # Digits that are no number, and a number that is too long.
    for name in ("12", "²7", "pid:²", "\u0667", "7" * 5000):
        with pytest.raises(BadInputError, match="no program is called"):
            find_group(groups, pods, name)


def test_a_number_that_is_an_id_and_a_pid(groups: Groups, pods: Pods, three: list[Group]) -> None:
    late = groups.enter(member(replace(ONE, pid=2)), 9, hello())
    for number, by_id, by_pid in (("2", three[1], late), ("9", late, three[1])):
        with pytest.raises(BadInputError, match="can mean 2 groups") as caught:
            find_group(groups, pods, number)
        assert caught.value.do == f"write id:{number} or pid:{number}"
        assert find_group(groups, pods, f"id:{number}") is by_id
        assert find_group(groups, pods, f"pid:{number}") is by_pid
    # An id and a pid of the same group are not ambiguous.
    both = groups.enter(member(replace(ONE, pid=11)), 11, hello())
    assert find_group(groups, pods, "11") is both


def test_several_programs_of_a_group_are_all_named(groups: Groups, pods: Pods) -> None:
    group = groups.enter(member(ONE), 1, hello(TOKEN))
    groups.enter(member(replace(ONE, program="load.py")), 2, hello(TOKEN))
    groups.enter(member(ONE), 3, hello(TOKEN))
    assert name_of(group, pods) == "train.py, load.py"
    assert find_group(groups, pods, "load.py") is group
