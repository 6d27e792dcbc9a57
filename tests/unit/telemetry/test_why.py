"""Ten situations, and a few more: the true main cause is named, with its numbers."""

from typing import Any

import pytest

from nvshare.settings import ClientLimits, DeviceSettings
from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    OutsideProcess,
    Recent,
    Thrashing,
)
from nvshare.telemetry.why import Explanation, explain

from .making import GIB, make_client, make_gpu, make_node

LARGE = {"allocated": 12 * GIB}
OTHER = make_client(2, parts={"computing": 26.0, "memory_in": 2.0}, **LARGE)


def why(
    client: ClientStatus, *others: ClientStatus, gpu: DeviceStatus | None = None
) -> Explanation:
    return explain(make_node(client, *others, gpus=(gpu or make_gpu(),)), client.id)


def text(found: Explanation) -> str:
    return " ".join(found.sentences())


def share(percent: int, **more: Any) -> dict[str, Any]:
    return {"limits": ClientLimits(compute_percent=percent), **more}


def test_moving() -> None:
    parts = {"memory_in": 15.0, "memory_out": 15.0, "waiting": 14.0, "computing": 16.0}
    found = why(make_client(parts=parts, came=50 * GIB, left=49 * GIB, **LARGE), OTHER)
    assert found.main.cause == "moving"
    said = text(found)
    assert "12.0 + 12.0 GiB do not fit in 14.0 GiB: 50 % of its time went to moving memory" in said
    assert "50.0 GiB in, 49.0 GiB out" in said
    assert said.count("with 10.0 GiB less, all programs would fit") == 1
    alone = why(make_client(parts={"memory_in": 60.0}, **LARGE), OTHER)
    assert text(alone).count("with 10.0 GiB less, all programs would fit") == 1


def test_waiting_behind_a_turn() -> None:
    parts = {"waiting": 30.0, "computing": 27.6, "memory_in": 2.4}
    gpu = make_gpu(turn_ends_in=20.3)
    found = why(make_client(parts=parts, state="waiting", **LARGE), OTHER, gpu=gpu)
    assert found.main.cause == "waiting"
    said = text(found)
    assert "root/train2.py has the GPU for 20 s more." in said
    assert "It waited 50 % of the time for root/train2.py, which computed 43 %" in said
    assert "they take turns, because they do not fit together" in said
    assert "12.0 + 12.0 GiB do not fit in 14.0 GiB: 4 % of its time went to moving memory" in said
    assert "`nvshare limit 4711 --priority high` lets it go first" in said


def test_programs_of_one_name_are_told_apart_by_their_pid() -> None:
    parts = {"waiting": 30.0, "computing": 30.0}
    rivals = [make_client(number, parts=parts, program="train1.py") for number in (2, 3)]
    said = text(why(make_client(parts=parts, state="waiting", **LARGE), *rivals))
    assert "for root/train1.py (pid 4712) and root/train1.py (pid 4713), which computed" in said


def test_waiting_for_a_first_turn() -> None:
    found = why(make_client(parts={"waiting": 60.0}, state="waiting", **LARGE), OTHER)
    assert "12.0 + 12.0 GiB do not fit in 14.0 GiB, so they take turns" in text(found)


def test_those_that_it_took_turns_with_are_gone() -> None:
    parts = {"waiting": 10.0, "memory_in": 10.0, "memory_out": 5.0, "computing": 35.0}
    said = text(why(make_client(parts=parts, came=50 * GIB, left=49 * GIB, **LARGE)))
    assert "the programs that it waited for have ended, or are idle" in said
    assert "25 % of its time went to moving memory" in said
    # There is no other program to fit together with, and no other turns would help.
    assert "fit together" not in said
    assert "set turn" not in said


def test_waiting_although_all_fits() -> None:
    parts = {"waiting": 30.0, "computing": 30.0}
    rival = make_client(2, parts=parts)
    found = why(make_client(parts=parts), rival)
    assert found.main.cause == "waiting"
    assert "they fit together, and take short turns" in text(found)
    serial = make_gpu(settings=DeviceSettings(mode="serial"))
    assert "mode serial" in text(why(make_client(parts=parts), rival, gpu=serial))


def test_held_back_by_its_share() -> None:
    parts = {"held_back": 42.0, "computing": 18.0}
    found = why(make_client(parts=parts, **share(30, share=30.0)))
    assert found.main.cause == "held_back"
    assert "Its share is 30 % of the GPU's time: it computed 30 %, and was held back 70 %" in text(
        found
    )
    assert "--compute none" in text(found)


def test_shares_that_add_up_to_too_much() -> None:
    parts = {"held_back": 30.0, "computing": 30.0}
    found = why(make_client(parts=parts, **share(70, share=50.0)), OTHER)
    assert found.main.cause == "shares_scaled"
    assert "add up to 140 %, so its 70 % become 50 %" in text(found)
    assert "held_back" not in [one.cause for one in found.findings]


def test_shares_that_add_up_to_too_much_are_kept_by_short_turns() -> None:
    parts = {"waiting": 30.0, "computing": 30.0}
    found = why(make_client(parts=parts, **share(80, share=50.0)), make_client(2, parts=parts))
    assert found.main.cause == "shares_scaled"
    assert "waiting" not in [one.cause for one in found.findings]


def test_idle() -> None:
    found = why(make_client(parts={"computing": 1.0}, launches=3))
    assert found.main.cause == "idle"
    assert "nothing to do for 98 % of the time (3 calls)" in text(found)
    assert "`nvshare park 4711` frees its 3.0 GiB" in text(found)


def test_idle_between_two_bursts() -> None:
    burst = make_client(
        parts={"computing": 10.0}, launches=9000, computing_percent=(0,) * 20 + (100,) * 10
    )
    assert why(burst).main.cause == "idle"


@pytest.mark.parametrize("history", [(12,) * 30, (0,) * 30, ()])
def test_bound_by_the_cpu(history: tuple[int, ...]) -> None:
    client = make_client(parts={"computing": 7.2}, launches=6000, computing_percent=history)
    found = why(client)
    assert found.main.cause == "cpu_bound"
    assert "The GPU waited for the program 88 % of the time: 6000 calls" in text(found)
    # Time that no other program took from it counts half.
    assert found.main.weight == pytest.approx(0.44)


def test_host_memory() -> None:
    because = "beside its 11.7 GiB there is no room for 9.2 GiB of others that cannot leave the GPU"
    client = make_client(
        parts={"waiting": 57.0, "computing": 3.0},
        state="waiting",
        held_up=True,
        held_up_because=because,
        **LARGE,
    )
    found = why(client, OTHER)
    assert found.main.cause == "host_memory"
    assert because in text(found)
    assert "9.0 of at most 64.0 GiB are kept" in text(found)
    assert "waiting" not in [one.cause for one in found.findings]


def test_a_process_outside() -> None:
    gpu = make_gpu(
        usable=8 * GIB, outside=(OutsideProcess(pid=99, program="game", memory=6 * GIB),)
    )
    parts = {"waiting": 28.0, "memory_in": 3.0, "computing": 29.0}
    size = {"allocated": 5 * GIB}
    found = why(make_client(parts=parts, **size), make_client(2, parts=parts, **size), gpu=gpu)
    assert found.main.cause == "outside_process"
    said = text(found)
    assert "game (pid 99) has 6.0 GiB of GPU 0 without nvshare; without that, all" in said
    assert "all programs would fit: 52 % of the program's time went to turns and moving" in said


def test_a_process_outside_that_is_in_nobodys_way() -> None:
    gpu = make_gpu(outside=(OutsideProcess(pid=99, memory=GIB),))
    found = why(make_client(parts={"computing": 59.0}), gpu=gpu)
    assert found.main.cause == "fine"
    assert "a process (pid 99) has 1.0 GiB" in text(found)
    hidden = make_gpu(outside=(OutsideProcess(pid=-1, memory=GIB),))
    assert "a process has 1.0 GiB" in text(why(make_client(parts={"computing": 59.0}), gpu=hidden))


def test_a_lost_gpu() -> None:
    gpu = make_gpu(lost_seconds=21.0, lost_because="it has fallen off the bus")
    found = why(make_client(parts={"waiting": 60.0}), OTHER, gpu=gpu)
    assert found.main.cause == "lost_gpu"
    assert "GPU 0 was lost 21.0 s ago (it has fallen off the bus)" in text(found)


def test_alone_and_fine() -> None:
    found = why(make_client(parts={"computing": 58.8}, launches=6000, computing_percent=(98,) * 30))
    assert found.main.cause == "fine"
    assert "It computed 98 % of the time, alone on the GPU: nothing holds it up." in text(found)


def test_parked_by_hand() -> None:
    client = make_client(parts={"waiting": 50.0}, parked="by hand", parked_seconds=50.0)
    found = why(client, OTHER)
    assert found.main.cause == "parked"
    assert "`nvshare unpark 4711`" in text(found)


def test_two_at_the_same_time() -> None:
    parts = {"computing": 57.0}
    found = why(make_client(parts=parts), make_client(2, parts=parts))
    assert found.main.cause == "together"
    assert "for 90 % of the time they shared it" in text(found)


def test_who_has_just_come() -> None:
    client = make_client().model_copy(update={"recent": Recent()})
    found = why(client)
    assert found.main.cause == "new"
    assert "has just connected" in text(found)


def test_the_first_sentence_has_all_that_matters_and_adds_up() -> None:
    parts = {"waiting": 30.0, "computing": 27.5, "memory_in": 2.4}
    (first, *_) = why(make_client(parts=parts), OTHER).sentences()
    assert first == (
        "root/train1.py (pid 4711) on GPU 0, last 1 min: waited for a turn 50 %, computed 46 %, "
        "brought memory in 4 %."
    )


def test_a_pod_is_named_by_its_name() -> None:
    client = make_client(parts={"computing": 60.0}, pod_name="team/trainer")
    assert text(why(client)).startswith("team/trainer/train1.py (pid 4711)")


def test_programs_get_causes_and_numbers() -> None:
    found = why(make_client(parts={"held_back": 42.0, "computing": 18.0}, **share(30, share=30.0)))
    values = found.values()
    assert (values["cause"], values["pid"], values["seconds"]) == ("held_back", 4711, 60.0)
    assert values["causes"][0]["numbers"]["held_back"] == pytest.approx(0.7)
    assert values["attribution"]["computing"] == 18.0
    assert values["text"] == text(found)


def test_limits_that_a_ceiling_has_set_say_so() -> None:
    limits = ClientLimits(memory_limit=4 * GIB, compute_percent=40)
    capped = ("compute_percent", "memory_limit", "priority")
    found = why(
        make_client(
            limits=limits,
            capped=capped,
            pod_name="team/trainer",
            parts={"computing": 24.0, "held_back": 36.0},
        )
    )
    assert found.main.cause == "held_back"
    assert (
        "Its memory limit (4Gi), its share (40 %) and its priority (normal) are set by the ceiling "
        "of namespace team." in text(found)
    )
    assert "The administrator of the cluster can raise the ceiling" in text(found)
    assert "nvshare limit" not in text(found)


THRASHING = Thrashing(seconds=12.0, programs=(1, 2), memory=24 * GIB, room=14 * GIB)


def test_thrashing_is_the_cause_as_soon_as_it_is_known() -> None:
    # Most of the minute is from before: one seemed to compute, and the other to do nothing.
    one = make_client(1, parts={"computing": 54.0, "thrashing": 6.0}, thrashes=True, **LARGE)
    other = make_client(2, parts={"thrashing": 6.0}, thrashes=True, **LARGE)
    gpu = make_gpu(thrashing=THRASHING, settings=DeviceSettings(mode="concurrent"))
    for client, beside in ((one, other), (other, one)):
        found = why(client, beside, gpu=gpu)
        assert found.main.cause == "thrashing"
        assert found.main.numbers["memory"] == 24 * GIB
        said = text(found)
        assert "stood still, thrashing, 10 %" in said
        assert "root/train1.py and root/train2.py page against each other" in said
        assert "`nvshare set --gpu 0 mode=auto`" in said
        for wrong in ("no other program", "nothing holds it up", "GPU waited for the program"):
            assert wrong not in said


def test_who_waits_behind_programs_that_thrash_hears_of_it() -> None:
    waits = make_client(3, parts={"waiting": 60.0}, state="waiting")
    both = [make_client(number, parts={"thrashing": 60.0}, thrashes=True) for number in (1, 2)]
    found = why(waits, *both, gpu=make_gpu(thrashing=THRASHING))
    assert found.main.cause == "thrashing"
    assert "page against each other" in text(found)


def test_thrashing_that_is_over_is_said_to_be() -> None:
    found = why(make_client(parts={"thrashing": 40.0, "computing": 20.0}, **LARGE), OTHER)
    assert found.main.cause == "thrashing"
    assert "It stood still 67 % of the time, paging against other programs. That is over." in text(
        found
    )
