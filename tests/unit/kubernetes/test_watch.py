import asyncio
import logging

import pytest

from nvshare.kubernetes.backoff import Backoff
from nvshare.kubernetes.watch import PodWatch

from .apiserver import ApiServer, bookmark, event, pod_list
from .making import pod_tree


async def until_exhausted(server: ApiServer, **options: float) -> list[tuple[str, str, bool]]:
    """Watch until the server has no answers left; return the reports."""
    told: list[tuple[str, str, bool]] = []
    async with server.client() as client:
        watch = PodWatch(
            client,
            "here",
            lambda change: told.append(
                (change[0].name, change[0].annotations.get("n", ""), change[1])
            ),
            backoff=Backoff(0.001, 0.01),
            **options,
        )
        task = asyncio.create_task(watch.run())
        await asyncio.wait_for(server.exhausted.wait(), 20)
        assert watch.synced.is_set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return told


def test_a_watch_begins_where_the_list_ended_and_goes_on_where_the_watch_ended() -> None:
    async def play() -> None:
        async with ApiServer() as server:
            server.lists = [pod_list(pod_tree("a"), version="5")]
            server.watches = [
                [event("ADDED", pod_tree("b", version="6")), bookmark("9")],
                [event("DELETED", pod_tree("b", version="10"))],
            ]
            assert await until_exhausted(server) == [
                ("a", "", True),
                ("b", "", True),
                ("b", "", False),
            ]
            watches = [one for one in server.requests if "watch" in one]
            assert [one["resourceVersion"] for one in watches] == ["5", "9", "10"]
            assert {one["fieldSelector"] for one in watches} == {"spec.nodeName=here"}
            assert {one["allowWatchBookmarks"] for one in watches} == {"true"}

    asyncio.run(play())


@pytest.mark.parametrize("as_event", [True, False])
def test_who_is_too_far_behind_lists_again_and_hears_of_what_it_missed(as_event: bool) -> None:
    async def play() -> None:
        async with ApiServer() as server:
            server.lists = [
                pod_list(pod_tree("a"), pod_tree("b"), version="5"),
                pod_list(pod_tree("b", annotations={"n": "2"}), version="50"),
            ]
            gone = {"type": "ERROR", "object": {"code": 410, "message": "too old"}}
            server.watches = [[gone] if as_event else 410]
            told = await until_exhausted(server)
            assert told[2:] == [("a", "", False), ("b", "2", True)]
            assert server.requests[-1]["resourceVersion"] == "50"

    asyncio.run(play())


def test_trouble_is_said_once_and_a_watch_is_taken_up_where_it_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def play() -> None:
        async with ApiServer() as server:
            server.lists = [pod_list(version="5")]
            server.watches = [503, 500, 503, [event("ADDED", pod_tree("a", version="6"))]]
            assert await until_exhausted(server) == [("a", "", True)]
            assert len([one for one in server.requests if "watch" not in one]) == 1

    with caplog.at_level(logging.WARNING, "nvshare"):
        asyncio.run(play())
    assert [record.message.partition(";")[0] for record in caplog.records] == [
        "the pods of this node cannot be followed",
        "the pods of this node are followed again",
    ]


def test_now_and_then_everything_is_listed_again() -> None:
    async def play() -> None:
        async with ApiServer() as server:
            server.lists = [pod_list(version="5"), pod_list(pod_tree("a"), version="6")]
            server.watches = [[bookmark("6")]]
            assert await until_exhausted(server, resync=0.0) == [("a", "", True)]

    asyncio.run(play())
