import asyncio
from pathlib import Path

import pytest

from nvshare.errors import NvshareError
from nvshare.kubernetes.client import Access, Client, in_cluster

from .apiserver import ApiServer, pod_list
from .making import pod_tree


def test_what_every_pod_is_given() -> None:
    access = in_cluster(
        {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}, Path("/a")
    )
    assert access == Access("https://10.0.0.1:443", Path("/a/token"), Path("/a/ca.crt"))
    six = in_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"})
    assert six.url == "https://[fd00::1]:443"


def test_outside_of_a_cluster() -> None:
    with pytest.raises(NvshareError, match="cannot be found") as caught:
        in_cluster({})
    assert "NVSHARE_NODE_NAME" in (caught.value.do or "")


def test_a_long_list_comes_in_pages() -> None:
    async def play() -> None:
        async with ApiServer() as server, server.client() as client:
            server.lists = [
                pod_list(pod_tree("a"), version="7", more="next"),
                pod_list(pod_tree("b"), version="7"),
            ]
            items, version = await client.list_pods("here")
            assert [item["metadata"]["name"] for item in items] == ["a", "b"]
            assert version == "7"
            first, second = server.requests
            assert first["fieldSelector"] == "spec.nodeName=here"
            assert "continue" not in first
            assert second["continue"] == "next"

    asyncio.run(play())


def test_a_new_token_is_used_as_soon_as_it_is_there(tmp_path: Path) -> None:
    token = tmp_path / "token"

    async def play() -> None:
        async with ApiServer() as server, Client(Access(server.url, token)) as client:
            server.lists = [pod_list(), pod_list()]
            for text in ("old\n", "new\n"):
                token.write_text(text)
                await client.list_pods("here")
            assert server.tokens == ["Bearer old", "Bearer new"]

    asyncio.run(play())
