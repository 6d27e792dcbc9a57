"""Talks to the daemon's control API. Verbs call this; it shows nothing."""

import http.client
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.place import LOOK_NAME, check_believed, check_node, control_socket
from nvshare.launch.unix_http import UnixConnection
from nvshare.settings import NodeSettings
from nvshare.telemetry.snapshot import DeviceStatus, GroupStatus, NodeStatus
from nvshare.telemetry.trace.items import Item, read_item
from nvshare.wire import environment

_SECONDS = 10.0
Take: TypeAlias = Callable[[bytes], None]


class Daemon:
    """The daemon, as the command line uses it."""

    def __init__(self, path: Path | None = None) -> None:
        # A socket that the user has named is the only one to try.
        named = (environment.SOCKET_DIR, environment.CONTROL_DIR)
        self._is_found = path is None and not any(map(os.environ.get, named))
        self.path = path or control_socket(os.environ)

    def status(self) -> NodeStatus:
        """Return a snapshot."""
        return NodeStatus.model_validate_json(self._ask("GET", "/v1/status"))

    def metrics(self) -> bytes:
        """Return the metrics, in the format of Prometheus."""
        return self._ask("GET", "/metrics")

    def change_node(self, changes: dict[str, Any]) -> NodeSettings:
        """Change settings of the whole node."""
        body = self._ask("PATCH", "/v1/node", changes)
        return NodeSettings.model_validate(json.loads(body)["settings"])

    def change_devices(self, name: str, changes: dict[str, Any]) -> list[DeviceStatus]:
        """Change settings of a GPU, or of "all"."""
        body = self._ask("PATCH", f"/v1/devices/{quote(name, safe='')}", changes)
        return [DeviceStatus.model_validate(one) for one in json.loads(body)["devices"]]

    def groups(self) -> list[GroupStatus]:
        """Return all groups, with their limits."""
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
        """Move all memory of a group off the GPUs, and give it no turn until it is unparked."""
        return self._order(who, "park")

    def unpark(self, who: str) -> GroupStatus:
        """Let a parked group continue."""
        return self._order(who, "unpark")

    def _order(self, who: str, what: str) -> GroupStatus:
        body = self._ask("POST", f"/v1/groups/{quote(who, safe='')}/{what}")
        return GroupStatus.model_validate(json.loads(body)["group"])

    def journal(self) -> str:
        """Return the journal so far."""
        return self._ask("GET", "/v1/journal").decode()

    def trace(self, seconds: float, take: Callable[[Item], None]) -> None:
        """Have the daemon report everything that happens from now on, for this many seconds."""

        def take_line(line: bytes) -> None:
            if line.strip() and (item := read_item(line)) is not None:
                take(item)

        self._ask("GET", f"/v1/trace?seconds={seconds:g}", each=take_line)

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        each: Take | None = None,
    ) -> bytes:
        """Ask on the control socket; requests that only read may use another socket, too."""
        try:
            return _request(str(self.path), method, path, body, each)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            check_node(os.environ)
            return self._ask_elsewhere(method, path, error, each)
        except PermissionError as error:
            if method != "GET":
                raise _may_not_change(self.path) from error
        look = self.path.with_name(LOOK_NAME)
        try:
            return _request(str(look), method, path, body, each)
        except OSError as error:
            raise NvshareError(
                "you may not look at the daemon",
                why=f"{look} does not let you connect ({error.strerror})",
                do="ask the administrator of the daemon to set look_mode so that you may, or use "
                "sudo",
            ) from error

    def _ask_elsewhere(
        self, method: str, path: str, error: OSError, each: Take | None = None
    ) -> bytes:
        """Ask a daemon that is not at a usual address, but holds GPUs of this machine."""
        from nvshare.launch.holders import describe, find_holders

        holders = find_holders(os.environ) if self._is_found else []
        if not holders:
            raise NvshareError(
                "no daemon is running",
                why=f"no process listens on {self.path}",
                do="start one with `nvshare daemon`; `nvshare run` starts one by itself",
            ) from error
        if method != "GET":
            raise NvshareError(
                "this daemon belongs to another user",
                why=describe(holders),
                do="ask that user to make the change",
            ) from error
        return _request(holders[0].address, method, path, each=each)


def _request(
    address: str,
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    each: Take | None = None,
) -> bytes:
    """Ask on one socket. The caller explains a failure to connect."""
    connection = UnixConnection(address, _SECONDS)
    try:
        connection.connect()
        if not address.startswith("\0"):
            check_believed(connection.sock, Path(address), os.environ)
        return _converse(connection, method, path, body, each)
    finally:
        connection.close()


def _converse(
    connection: UnixConnection,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    each: Take | None,
) -> bytes:
    """Return the answer, or pass it on line by line as it arrives."""
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        if each is not None and answer.status == http.client.OK:
            for line in answer:
                each(line)
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise NvshareError(
            "the daemon does not answer",
            why=f"{type(error).__name__} {error}".rstrip(),
            do="read its log, or run `nvshare doctor`",
        ) from error
    if answer.status != http.client.OK:
        raise _problem(answer.status, content)
    return content


def _may_not_change(path: Path) -> NvshareError:
    return NvshareError(
        "you may look at the daemon, but not change anything",
        why=f"{path} does not let you connect",
        do="use sudo, or ask the administrator of the daemon to set control_mode and "
        "socket_group so that you may",
    )


def _problem(status: int, content: bytes) -> NvshareError:
    try:
        error = json.loads(content)["error"]
        return BadInputError(error["what"], why=error["why"], do=error["do"])
    except (ValueError, KeyError, TypeError):
        return NvshareError(
            "the daemon has a problem",
            why=f"it answered with HTTP status {status}",
            do="read its log",
        )
