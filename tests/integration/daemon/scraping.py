"""Asks a daemon for its metrics, as Prometheus does."""

import http.client
import re
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

# Enough for an answer, on a busy machine.
SECONDS = 20.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(str(self._path))


@dataclass(frozen=True)
class Scrape:
    """The answer to a scrape."""

    status: int
    content_type: str
    text: str

    def values(self, name: str, **labels: str) -> list[float]:
        """Return the values of a metric that have these labels."""
        return [
            sample.value
            for family in text_string_to_metric_families(self.text)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float:
        """Return the only value of a metric that has these labels."""
        (value,) = self.values(name, **labels)
        return value


def port_in(log: Path) -> int:
    """Wait until a daemon logs its port for metrics; return it."""
    end = time.monotonic() + SECONDS
    while True:
        text = log.read_text()
        if found := re.search(r"msg=metrics address=127\.0\.0\.1:([0-9]+)", text):
            return int(found[1])
        assert time.monotonic() < end, text
        time.sleep(0.01)


def scrape(place: Path | int, path: str = "/metrics", accept: str = "") -> Scrape:
    """Scrape a Unix socket or a port of this machine."""
    connection = (
        http.client.HTTPConnection("127.0.0.1", place, timeout=SECONDS)
        if isinstance(place, int)
        else _UnixConnection(place)
    )
    try:
        connection.request("GET", path, headers={"Accept": accept})
        response = connection.getresponse()
        kind = response.getheader("Content-Type", "")
        return Scrape(response.status, kind, response.read().decode())
    finally:
        connection.close()
