"""Several nodes as one: the node that gets a request asks the others, with the same token."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import aiohttp

from nvshare.web.peers import Peers

from ..telemetry.making import make_client, make_node
from .stage import PATIENCE, TOKEN, Told, Visit, listening, serving

NAME = "nvshare-web-nodes"


def nodes() -> dict[str, Told]:
    return {
        "node-a": Told(make_node(make_client(1, program="a.py"))),
        "node-b": Told(make_node(make_client(1, program="b.py", pod_name="team/b"))),
    }


def visit_cluster(
    told: dict[str, Told],
    act: Callable[[Visit], Awaitable[None]],
    *,
    dead: tuple[str, ...] = (),
    token: str = TOKEN,
) -> None:
    """Serve each node on an address of its own, and visit the first. ``dead`` ones are down."""

    async def run() -> None:
        sock = listening()
        port = sock.getsockname()[1]
        addresses = {name: f"127.0.0.{place}" for place, name in enumerate(told, 1)}

        async def resolve(host: str, wanted: int) -> list[str]:
            assert (host, wanted) == (NAME, port)
            return [*addresses.values(), *dead]

        async with AsyncExitStack() as stack:
            peers = Peers(NAME, port, token, resolve)
            for name, source in told.items():
                is_first = addresses[name] == "127.0.0.1"
                own = sock if is_first else socket.create_server((addresses[name], port))
                own.setblocking(False)
                await stack.enter_async_context(
                    serving(source, name=name, sock=own, peers=peers if is_first else None)
                )
            session = await stack.enter_async_context(aiohttp.ClientSession(timeout=PATIENCE))
            await act(Visit(session, port))

    asyncio.run(run())


def test_all_nodes_are_shown_once() -> None:
    async def act(visit: Visit) -> None:
        _, view = await visit.ask("GET", "/v1/view")
        shown = [(one["name"], one["status"]["clients"][0]["program"]) for one in view["nodes"]]
        assert shown == [("node-a", "a.py"), ("node-b", "b.py")]

    visit_cluster(nodes(), act)


def test_a_node_that_does_not_answer_is_shown_with_the_reason() -> None:
    async def act(visit: Visit) -> None:
        _, view = await visit.ask("GET", "/v1/view")
        shown = {one["name"]: one["problem"] for one in view["nodes"]}
        assert shown["node-a"] is None
        assert shown["127.0.0.9"] == "it does not answer: Connection refused"

    visit_cluster(nodes(), act, dead=("127.0.0.9",))


def test_a_node_with_another_token_tells_nothing() -> None:
    async def act(visit: Visit) -> None:
        _, view = await visit.ask("GET", "/v1/view")
        shown = {one["name"]: one["problem"] for one in view["nodes"]}
        assert "401" in shown["127.0.0.2"]
        assert "b.py" not in str(view)

    visit_cluster(nodes(), act, token="x" * 30)


def test_changes_and_questions_go_to_the_node_that_they_are_about() -> None:
    told = nodes()

    async def act(visit: Visit) -> None:
        await visit.ask("GET", "/v1/view")
        order = {"node": "node-b", "program": 1, "changes": {"priority": "low"}}
        assert (await visit.ask("POST", "/v1/limits", json=order))[0] == 200
        status, said = await visit.ask("GET", "/v1/why?node=node-b&program=1")
        assert status == 200
        assert "b.py" in said["sentences"][0]
        # A refusal keeps its own words.
        status, said = await visit.ask("POST", "/v1/limits", json={**order, "program": 9})
        assert (status, said["error"]["what"]) == (
            400,
            "memory_limit is set by an annotation of its pod",
        )
        for node in ("node-c", ["node-b"]):
            status, _ = await visit.ask("POST", "/v1/limits", json={**order, "node": node})
            assert status == 400

    visit_cluster(told, act)
    assert told["node-a"].changed == []
    assert told["node-b"].changed == [(1, {"priority": "low"})]
