"""Two nodes on one page. The daemons are real; the pods of their programs are made up."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nvshare.telemetry.snapshot import GroupStatus, NodeStatus
from nvshare.web.peers import Peers
from nvshare.web.server import WebServer
from nvshare.web.token import make_token
from tests.integration.sharing.conftest import Sharing

from .conftest import GIB, start_kernels

if TYPE_CHECKING:
    from .browser import Browser

TEXTS = "return [...document.querySelectorAll('{}')].map((one) => one.textContent)"
PROGRAMS = TEXTS.format("tr.program .name + small")
NODES = TEXTS.format(".node-title h3")


class PodSource:
    """A daemon whose programs all belong to a pod."""

    def __init__(self, sharing: Sharing, pod: str) -> None:
        self._sharing = sharing
        self._pod = pod

    def status(self) -> NodeStatus:
        """Return its snapshot."""
        status = self._sharing.daemon().status()
        named = tuple(one.model_copy(update={"pod_name": self._pod}) for one in status.clients)
        return status.model_copy(update={"clients": named})

    def may_change(self) -> bool:
        """Say yes."""
        return True

    def change_limits(self, program: int, changes: dict[str, Any]) -> GroupStatus:
        """Change the limits of a program."""
        return self._sharing.daemon().change_limits(str(program), changes)

    def park(self, program: int, parked: bool) -> GroupStatus:
        """Park a program, or let it go on."""
        daemon = self._sharing.daemon()
        return daemon.park(str(program)) if parked else daemon.unpark(str(program))


@contextmanager
def cluster(sources: Mapping[str, PodSource], dead: str) -> Iterator[str]:
    """Serve each node on its own address; yield the first URL. Nothing listens on ``dead``."""
    token = make_token()
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    addresses = {name: f"127.0.0.{place}" for place, name in enumerate(sources, 1)}
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def resolve(host: str, wanted: int) -> list[str]:
        del host, wanted
        return [*addresses.values(), dead]

    async def serve() -> None:
        servers = []
        for name, source in sources.items():
            is_first = addresses[name] == "127.0.0.1"
            own = sock if is_first else socket.create_server((addresses[name], port))
            own.setblocking(False)
            peers = Peers("nodes", port, token, resolve) if is_first else None
            servers.append(WebServer(name, source, token, peers=peers).serve(own, stop))
        await asyncio.gather(*servers)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/#{token}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def test_nodes_and_namespaces(share: Callable[..., Sharing], browser: "Browser") -> None:
    nodes = {"node-a": share("1xt4", data="off"), "node-b": share("1xt4", data="off")}
    for sharing in nodes.values():
        start_kernels(sharing, "--kernel", "0.005", "--memory", str(GIB))
        sharing.until_status(lambda now: any(one.launches for one in now.clients))
    pods = {"node-a": "vision/resnet", "node-b": "nlp/llama"}
    sources = {name: PodSource(sharing, pods[name]) for name, sharing in nodes.items()}
    with cluster(sources, dead="127.0.0.9") as url:
        browser.open(url)
        browser.until(lambda: len(browser.run(PROGRAMS)) == 2)
        assert browser.run(NODES) == ["127.0.0.9", "node-a", "node-b"]
        assert "it does not answer" in browser.text("#gpus")
        assert "vision" in browser.text("#namespaces")
        # A namespace is a button; so is the way back.
        browser.click("#namespaces button")
        browser.until(lambda: len(browser.run(PROGRAMS)) == 1)
        assert browser.run(PROGRAMS)[0].startswith("nlp/llama")
        browser.click("#namespaces button")
        browser.until(lambda: len(browser.run(PROGRAMS)) == 2)
        # A change to another node is made there, by way of this one.
        browser.find("#node").send_keys("node-b")
        browser.until(lambda: len(browser.run(PROGRAMS)) == 1)
        browser.click("tr.program .change button")
        browser.find("#limit-memory").send_keys("3Gi")
        browser.click("#limits-go")
        browser.click("#limits-go")
        changed = nodes["node-b"].until_status(
            lambda now: now.clients[0].limits.memory_limit is not None
        )
        assert changed.clients[0].limits.memory_limit == 3 * GIB
        assert nodes["node-a"].daemon().status().clients[0].limits.memory_limit is None
        browser.open("about:blank")
