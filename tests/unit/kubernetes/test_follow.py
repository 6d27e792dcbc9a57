import asyncio
from collections.abc import Callable
from datetime import datetime, timezone

import pytest

from nvshare.daemon.clients.notices import FOR_PODS
from nvshare.kubernetes.events import warning
from nvshare.kubernetes.follow import REASONS, CeilingOf, Follower, no_ceiling
from nvshare.telemetry.ceilings import Ceiling
from nvshare.telemetry.pod_orders import PodOrders

from .apiserver import ApiServer
from .making import make_pod

MEMORY = "nvshare.com/gpu-memory-limit"
GIB = 1 << 30

Told = list[tuple[str, PodOrders | None]]


def play(
    script: Callable[[Follower, Told], None],
    *,
    status: int = 201,
    ceiling_of: CeilingOf = no_ceiling,
) -> ApiServer:
    """Run a script with a follower, and return the server, which was told of mistakes."""

    async def run() -> ApiServer:
        async with ApiServer() as server, server.client() as client:
            server.event_status = status
            told: Told = []
            follower = Follower(
                client, "here", lambda *one: told.append(one), hami=False, ceiling_of=ceiling_of
            )
            script(follower, told)
            await asyncio.gather(*follower._sending)
            follower.close()
            return server

    return asyncio.run(run())


def test_orders_are_told_when_they_change_and_only_then() -> None:
    def script(follower: Follower, told: Told) -> None:
        follower.take((make_pod(annotations={MEMORY: "4Gi"}), True))
        follower.take((make_pod(annotations={MEMORY: "4Gi", "x": "y"}), True))
        follower.take((make_pod(annotations={MEMORY: "2Gi"}), True))
        follower.take((make_pod(), False))
        limits = [orders and orders.orders.memory_limit for _, orders in told]
        assert limits == [4 * GIB, 2 * GIB, None]
        assert {uid for uid, _ in told} == {"uid-of-trainer"}

    assert play(script).events == []


def test_a_pod_without_annotations_is_told_so_that_its_name_is_known() -> None:
    def script(follower: Follower, told: Told) -> None:
        follower.take((make_pod(), True))
        assert [orders and orders.name for _, orders in told] == ["trainer"]

    play(script)


@pytest.mark.parametrize("key", ["kubernetes.io/config.hash", "kubernetes.io/config.mirror"])
def test_no_annotation_makes_a_pod_speak_for_another(key: str) -> None:
    def script(follower: Follower, told: Told) -> None:
        mine = {key: "uid-of-victim", MEMORY: "1Mi"}
        follower.take((make_pod(annotations=mine), True))
        assert [uid for uid, _ in told] == ["uid-of-trainer"]

    play(script)


def test_a_pod_has_ten_events_a_minute_however_many_mistakes_it_has(
    caplog: pytest.LogCaptureFixture,
) -> None:
    mistakes = {f"nvshare.com/gpu-{number}": "x" * 20 for number in range(10_000)}

    def script(follower: Follower, _: Told) -> None:
        follower.take((make_pod(annotations=mistakes), True))
        follower.take((make_pod(annotations={**mistakes, "nvshare.com/gpu-more": "x"}), True))

    assert len(play(script).events) == 10
    assert len(caplog.records) == 11
    assert "too many events for" in caplog.records[-1].message


def test_a_mistake_is_an_event_once_and_again_after_it_was_put_right() -> None:
    def script(follower: Follower, told: Told) -> None:
        for text in ("4GB", "4GB", "4Gi", "4GB"):
            follower.take((make_pod(annotations={MEMORY: text}), True))
        assert [orders and orders.orders.memory_limit for _, orders in told] == [None, 4 * GIB]

    events = play(script).events
    assert len(events) == 2
    assert events[0]["involvedObject"]["uid"] == "uid-of-trainer"
    assert events[0]["reason"] == "BadGpuAnnotation"
    assert '"4GB" changes nothing' in events[0]["message"]


def test_who_asks_for_more_than_a_ceiling_allows_hears_so_within_the_same_bounds() -> None:
    def ceiling_of(namespace: str) -> Ceiling:
        assert namespace == "team"
        return Ceiling(memory_limit=GIB)

    def script(follower: Follower, told: Told) -> None:
        for size in range(2, 40):
            follower.take((make_pod(annotations={MEMORY: f"{size}Gi"}), True))
        # The request is passed on unchanged: the daemon cuts it.
        sizes = [orders.orders.memory_limit for _, orders in told if orders]
        assert sizes[-1] == 39 * GIB

    events = play(script, ceiling_of=ceiling_of).events
    assert len(events) == 10
    assert {one["reason"] for one in events} == {"GpuAnnotationCut"}
    assert "beyond the ceiling of namespace team: 1Gi is in force" in events[0]["message"]


def test_an_event_that_cannot_be_sent_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    play(lambda follower, _: follower.take((make_pod(annotations={MEMORY: "?"}), True)), status=403)
    assert "an event of team/trainer cannot be sent: 403" in caplog.text


def test_an_event_is_what_the_api_server_takes() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    event = warning(make_pod(), "Why", "x" * 5000, node="here", now=now)
    assert event["metadata"]["namespace"] == event["involvedObject"]["namespace"] == "team"
    assert event["metadata"]["name"].startswith("trainer.")
    assert event["firstTimestamp"] == "2026-01-02T03:04:05Z"
    assert len(event["message"]) == 1024
    assert event["source"] == {"component": "nvshare", "host": "here"}


def test_all_that_pods_are_told_has_a_name() -> None:
    assert set(REASONS) == {kind.value for kind in FOR_PODS}
