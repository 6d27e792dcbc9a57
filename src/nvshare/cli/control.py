"""Talks to the daemon's control API. Verbs call this; it shows nothing."""

import http.client
import json
import os
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.place import control_socket
from nvshare.telemetry.settings import NodeSettings
from nvshare.telemetry.snapshot import DeviceStatus, GroupStatus, NodeStatus

_SECONDS = 10.0


class _UnixConnection(http.client.HTTPConnection):
    """HTTP on a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(str(self._path))


class Daemon:
    """The daemon, as far as people are concerned."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or control_socket(os.environ)

    def status(self) -> NodeStatus:
        """Return everything."""
        return NodeStatus.model_validate_json(self._ask("GET", "/v1/status"))

    def change_node(self, changes: dict[str, Any]) -> NodeSettings:
        """Change settings of the whole node."""
        body = self._ask("PATCH", "/v1/node", changes)
        return NodeSettings.model_validate(json.loads(body)["settings"])

    def change_devices(self, name: str, changes: dict[str, Any]) -> list[DeviceStatus]:
        """Change settings of a GPU, or of "all"."""
        body = self._ask("PATCH", f"/v1/devices/{quote(name, safe='')}", changes)
        return [DeviceStatus.model_validate(one) for one in json.loads(body)["devices"]]

    def groups(self) -> list[GroupStatus]:
        """Return who shares which limits."""
        body = self._ask("GET", "/v1/groups")
        return [GroupStatus.model_validate(one) for one in json.loads(body)["groups"]]

    def group(self, who: str) -> GroupStatus:
        """Return one group."""
        body = self._ask("GET", f"/v1/groups/{quote(who, safe='')}")
        return GroupStatus.model_validate(json.loads(body)["group"])

    def change_limits(self, who: str, changes: dict[str, Any]) -> GroupStatus:
        """Change the limits of a group."""
        body = self._ask("PATCH", f"/v1/groups/{quote(who, safe='')}", changes)
        return GroupStatus.model_validate(json.loads(body)["group"])

    def park(self, who: str) -> GroupStatus:
        """Have all memory of a group leave the GPUs, and give it no turn."""
        return self._order(who, "park")

    def unpark(self, who: str) -> GroupStatus:
        """Let it go on."""
        return self._order(who, "unpark")

    def _order(self, who: str, what: str) -> GroupStatus:
        body = self._ask("POST", f"/v1/groups/{quote(who, safe='')}/{what}")
        return GroupStatus.model_validate(json.loads(body)["group"])

    def story(self) -> str:
        """Return the story so far."""
        return self._ask("GET", "/v1/story").decode()

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> bytes:
        connection = _UnixConnection(self.path)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            content = answer.read()
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NvshareError(
                "no daemon is running",
                why=f"nobody listens on {self.path}",
                do="start one with `nvshare daemon`; `nvshare run` starts one by itself",
            ) from error
        except PermissionError as error:
            raise NvshareError(
                "you may not ask the daemon",
                why=f"{self.path} belongs to somebody else",
                do="ask an administrator, or use sudo",
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise NvshareError(
                "the daemon does not answer",
                why=f"{self.path}: {type(error).__name__} {error}".rstrip(),
                do="look at its log, and at `nvshare doctor`",
            ) from error
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise _problem(answer.status, content)
        return content


def _problem(status: int, content: bytes) -> NvshareError:
    try:
        error = json.loads(content)["error"]
        return BadInputError(error["what"], why=error["why"], do=error["do"])
    except (ValueError, KeyError, TypeError):
        return NvshareError(
            "the daemon has a problem",
            why=f"it answered with HTTP status {status}",
            do="look at its log",
        )
