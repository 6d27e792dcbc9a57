"""The data that the page gets, and the requests that it may make."""

from typing import Any

import pytest

from nvshare.errors import NvshareError

from ..telemetry.making import make_client, make_node
from .stage import HEADERS, Told, Visit, visit


def test_a_view_is_the_snapshot_of_this_node() -> None:
    async def act(visit: Visit) -> None:
        status, view = await visit.ask("GET", "/v1/view")
        assert status == 200
        (node,) = view["nodes"]
        assert (node["name"], node["problem"], node["may_change"]) == ("here", None, True)
        assert [one["program"] for one in node["status"]["clients"]] == ["train1.py", "train2.py"]
        assert [one["id"] for one in node["lanes"]] == [1, 2]
        status, alone = await visit.ask("GET", "/v1/node")
        assert alone["status"] == node["status"]

    visit(Told(), act)


def test_however_many_look_the_daemon_is_asked_once() -> None:
    source = Told()

    async def act(visit: Visit) -> None:
        for _ in range(20):
            assert (await visit.ask("GET", "/v1/view"))[0] == 200

    visit(source, act)
    # Once at the start, and once more for each second that this has taken.
    assert source.looks <= 3


def test_a_daemon_that_does_not_answer_is_told_of_and_comes_back() -> None:
    source = Told(NvshareError("no daemon is running", do="start one"), make_node(make_client(1)))

    async def act(visit: Visit) -> None:
        _, view = await visit.ask("GET", "/v1/view")
        (node,) = view["nodes"]
        assert node["problem"] == "no daemon is running; start one"
        assert node["status"] is None
        assert not node["may_change"]
        assert (await visit.ask("GET", "/v1/why?program=1"))[0] == 400
        # A change makes it look anew.
        order = {"program": 1, "changes": {"priority": "low"}}
        await visit.ask("POST", "/v1/limits", json=order)
        _, view = await visit.ask("GET", "/v1/view")
        assert view["nodes"][0]["problem"] is None

    visit(source, act)


def test_why_is_what_the_command_says() -> None:
    async def act(visit: Visit) -> None:
        status, said = await visit.ask("GET", "/v1/why?program=2&node=here")
        assert status == 200
        assert said["sentences"][0].startswith("root/train2.py (pid 4712) on GPU 0")
        for query in ("program=3", "program=x", "", "program="):
            assert (await visit.ask("GET", f"/v1/why?{query}"))[0] == 400

    visit(Told(), act)


def test_limits_are_changed() -> None:
    source = Told()
    changes = {"memory_limit": "6Gi", "priority": "high", "compute_percent": None}

    async def act(visit: Visit) -> None:
        order = {"node": "here", "program": 2, "changes": changes}
        status, said = await visit.ask("POST", "/v1/limits", json=order)
        assert status == 200
        assert said["group"]["limits"]["memory_limit"] == 6 << 30

    visit(source, act)
    assert source.changed == [(2, changes)]


def test_why_nothing_was_changed_is_said() -> None:
    async def act(visit: Visit) -> None:
        order = {"program": 9, "changes": {"memory_limit": "6Gi"}}
        status, said = await visit.ask("POST", "/v1/limits", json=order)
        assert status == 400
        assert said["error"]["what"] == "memory_limit is set by an annotation of its pod"
        assert said["error"]["do"] == "annotate the pod"

    visit(Told(), act)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"program": 1},
        {"program": "1", "changes": {"priority": "low"}},
        {"program": True, "changes": {"priority": "low"}},
        {"program": 1, "changes": {}},
        {"program": 1, "changes": ["priority"]},
        {"program": 1, "changes": {"mode": "off"}},
        {"program": 1, "changes": {"priority": "low", "allocation": "native"}},
    ],
)
def test_what_makes_no_sense_changes_nothing(body: Any) -> None:
    source = Told()

    async def act(visit: Visit) -> None:
        assert (await visit.ask("POST", "/v1/limits", json=body))[0] == 400

    visit(source, act)
    assert source.changed == []


def test_what_is_no_json_or_too_large_or_another_method_is_refused() -> None:
    source = Told()

    async def act(visit: Visit) -> None:
        headers = {**HEADERS, "Content-Type": "application/json"}
        assert (await visit.ask("POST", "/v1/limits", headers=headers, data="{"))[0] == 400
        large = b"[" + b" " * (1 << 17)
        assert (await visit.ask("POST", "/v1/limits", headers=headers, data=large))[0] == 413
        for method in ("PUT", "DELETE", "PATCH", "GET"):
            assert (await visit.ask(method, "/v1/limits"))[0] == 405
        assert (await visit.ask("GET", "/v1/view?after=yesterday"))[0] == 400

    visit(source, act)
    assert source.changed == []
