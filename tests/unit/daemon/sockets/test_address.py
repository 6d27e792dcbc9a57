import socket

import pytest

from nvshare.daemon.sockets.address import listen_on, parse_address, show_address
from nvshare.errors import NvshareError


def listen(text: str) -> socket.socket:
    return listen_on(text, what="metrics", setting="metrics_address")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9464", "127.0.0.1", 9464),
        ("localhost:0", "localhost", 0),
        (":9464", "", 9464),
        ("[::1]:65535", "::1", 65535),
    ],
)
def test_what_an_address_is(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["9464", "127.0.0.1", "127.0.0.1:", "::1:9464", "[]:1", "a:65536", "a:-1", "a:b", "http://a:1"],
)
def test_what_no_address_is(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address such as"):
        parse_address(text)


def test_a_socket_listens_where_it_says() -> None:
    with listen("127.0.0.1:0") as sock:
        host, _, port = show_address(sock).rpartition(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port)), timeout=10):
            pass
        assert not sock.getblocking()


def test_no_host_is_every_address() -> None:
    with listen(":0") as sock, socket.create_connection(("127.0.0.1", sock.getsockname()[1]), 10):
        pass


def test_an_address_of_six_parts_is_shown_in_brackets() -> None:
    if not socket.has_dualstack_ipv6():
        assert show_address(listen(":0")).startswith("0.0.0.0:")
        return
    with listen(":0") as sock:
        assert show_address(sock) == f"[::]:{sock.getsockname()[1]}"


def test_a_port_that_is_taken() -> None:
    with listen("127.0.0.1:0") as sock:
        where = show_address(sock)
        with pytest.raises(NvshareError) as caught:
            listen(where)
    assert caught.value.what == f"metrics cannot be served on {where}"
    assert caught.value.why == "Address already in use"
    assert caught.value.do is not None
    assert "metrics_address" in caught.value.do


def test_an_address_of_somebody_else() -> None:
    # From the range that is reserved for examples.
    with pytest.raises(NvshareError) as caught:
        listen("192.0.2.1:9464")
    assert caught.value.why == "Cannot assign requested address"


def test_a_name_that_is_nobodys() -> None:
    with pytest.raises(NvshareError, match=r"metrics cannot be served on no\.invalid:1"):
        listen("no.invalid:1")
