from nvshare.telemetry.exporter import expose
from nvshare.telemetry.hiding import HIDDEN, hide_others
from nvshare.telemetry.snapshot import OutsideProcess

from .test_exporter import client, device, group, node

OWN = client(id=1, uid=1000, user="alice", program="own.py", group="run-1000-a")
FOREIGN = client(id=2, uid=1001, user="bob", program="secret.py", group="run-1001-b", pid=4712)
OUTSIDE = (
    OutsideProcess(pid=11, uid=1000, program="mine", memory=1),
    OutsideProcess(pid=4713, uid=1001, program="secret", memory=2),
    OutsideProcess(pid=0, program="nobody's", memory=3),
)
STATUS = node(
    OWN,
    FOREIGN,
    devices=(device(outside=OUTSIDE),),
    groups=(group(key="run-1000-a", name="own.py"), group(key="run-1001-b", name="secret.py")),
)


def test_ones_own_programs_are_seen() -> None:
    seen = hide_others(STATUS, 1000)
    assert seen.clients[0] == OWN
    assert seen.groups[0] == STATUS.groups[0]
    mine, theirs, nobodys = seen.devices[0].outside
    assert (mine, nobodys) == (OUTSIDE[0], OUTSIDE[2])
    assert (theirs.program, theirs.memory) == ("", 2)


def test_of_others_only_how_much_is_seen() -> None:
    shown = hide_others(STATUS, 1000)
    assert shown.clients[1].allocated == FOREIGN.allocated
    assert shown.clients[1].state == FOREIGN.state
    for text in (shown.model_dump_json(), expose(shown, "")[0].decode()):
        for secret in ("secret", "bob", "1001", "4712", "4713"):
            assert secret not in text
        assert HIDDEN in text


def test_two_hidden_groups_on_one_gpu_are_two_series() -> None:
    others = [group(key=f"run-{uid}-x", name="secret.py") for uid in (1001, 1002)]
    seen = hide_others(node(FOREIGN, groups=tuple(others)), 1000)
    assert len({one.key for one in seen.groups}) == 2
    text = expose(seen, "")[0].decode()
    lines = [line for line in text.splitlines() if line.startswith("nvshare_group_memory_used")]
    assert len(set(lines)) == 2


def test_nobody_in_particular_sees_nobody() -> None:
    assert {one.program for one in hide_others(STATUS, -1).clients} == {HIDDEN}
