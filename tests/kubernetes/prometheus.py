"""A real Prometheus on this machine: the Debian package, taken apart and not installed."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tools.cache import kept_last

from .cluster.rootfs import run

SECONDS = 60.0


def package() -> Path:
    """Return the folder that has usr/bin/prometheus and usr/bin/promtool."""

    def make(root: Path) -> None:
        root.mkdir()
        run("apt-get", "update")
        # Downloaded by the user that owns the folder, not by apt's own.
        run("apt-get", "-o", "APT::Sandbox::User=root", "download", "prometheus", cwd=root)
        (file,) = root.glob("*.deb")
        run("dpkg-deb", "--extract", file, root)
        file.unlink()

    return kept_last("prometheus", ["1"], make)


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


class Prometheus:
    """A server that runs."""

    def __init__(self, port: int) -> None:
        self._port = port

    def ask(self, path: str, **parameters: str) -> Any:
        """Ask its API; raise if it answers with an error."""
        query = urllib.parse.urlencode(parameters)
        address = f"http://127.0.0.1:{self._port}/api/v1/{path}?{query}"
        with urllib.request.urlopen(address, timeout=30) as answer:
            content = json.load(answer)
        assert content["status"] == "success", content
        return content["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the present value of an expression."""
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            self.ask("query", query="1")
        except (urllib.error.URLError, OSError):
            return False
        return True


@contextmanager
def prometheus(folder: Path, scraped: int, rules: str) -> Iterator[Prometheus]:
    """Start a server that scrapes a local port every second and evaluates these rules."""
    folder.mkdir()
    (folder / "rules.yaml").write_text(rules)
    (folder / "prometheus.yaml").write_text(
        yaml.safe_dump(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(folder / "rules.yaml")],
                "scrape_configs": [
                    {
                        "job_name": "nvshare",
                        "honor_labels": True,
                        "static_configs": [{"targets": [f"127.0.0.1:{scraped}"]}],
                    }
                ],
            }
        )
    )
    port = free_port()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                package() / "usr/bin/prometheus",
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
            env={"PATH": os.environ["PATH"]},
        )
    try:
        server = Prometheus(port)
        deadline = time.monotonic() + SECONDS
        while not server.is_ready():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)
