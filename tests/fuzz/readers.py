"""The readers in Python of foreign input, and the errors by which they refuse it.

Each takes arbitrary bytes. Any exception other than its own is a mistake of ours, and so is one
that takes very long. The results are judged by the tests of each reader.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from nvshare.cli.replay import replay
from nvshare.daemon.clients.settings import client_settings
from nvshare.daemon.config import Sources
from nvshare.daemon.groups.notes import ChosenLimits
from nvshare.daemon.groups.quota_page import SIZE, SLOTS, Page
from nvshare.daemon.tenants.identity import parse_cgroup, shown_name
from nvshare.errors import BadInputError
from nvshare.kernel import memory_file, seal_size
from nvshare.kubernetes.annotations import read_orders
from nvshare.kubernetes.pods import Container, Pod
from nvshare.lab.sim.scenario import parse_scenario
from nvshare.parsing import parse_body
from nvshare.settings import ClientLimits, DeviceSettings, NodeSettings
from nvshare.validation import describe
from nvshare.wire.codec import Decoder, WireError, client_frames, daemon_frames

# Seconds of a core for one input; a thousand times the usual.
LONGEST = 5.0
# The longest error message, however long the input.
_LONGEST_COMPLAINT = 2000


@dataclass(frozen=True)
class Reader:
    """A reader, and how it refuses input."""

    read: Callable[[bytes], object]
    refuses: tuple[type[Exception], ...] = ()


def _decode(make: "Callable[[], Decoder[Any]]") -> Callable[[bytes], None]:
    def decode(data: bytes) -> None:
        whole = list(make().feed(data))
        pieces = make()
        # Input in pieces gives the same result.
        middle = len(data) // 2
        assert [*pieces.feed(data[:middle]), *pieces.feed(data[middle:])] == whole

    return decode


def _read_config(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=_MEMORY) as file:
        file.write(data)
        file.flush()
        config = Sources(Path(file.name), {}, {}).load()
    config.node_settings()
    config.settings_of(0, "GPU-0").for_core()


def _read_annotations(data: bytes) -> None:
    """Lines of key=value, which are annotations, and resources of one container."""
    lines = data.decode("utf-8", "replace").split("\n")
    pairs = dict(line.split("=", 1) for line in lines if "=" in line)
    container = Container("trainer", "0123", pairs)
    pod = Pod(
        "uid", "default", "pod", "", is_over=False, annotations=pairs, containers=(container,)
    )
    first = read_orders(pod, None, hami=True)
    second = read_orders(pod, first, hami=True)
    assert second.orders == first.orders
    assert all(len(str(one)) < _LONGEST_COMPLAINT for one in first.complaints)


def _read_scenario(data: bytes) -> None:
    scenario = parse_scenario(data.decode("utf-8", "replace"), source="fuzz")
    for index, _ in enumerate(scenario.profiles()):
        scenario.settings_of(index)


def _read_body(data: bytes) -> None:
    """As the control API does: an object, then changes of each kind, then their effects."""
    changes = parse_body(data)
    for change in (_change_device, NodeSettings().changed, ClientLimits().changed):
        try:
            change(changes)
        except ValidationError as error:
            "; ".join(describe(error))


def _change_device(changes: "dict[str, Any]") -> None:
    settings = DeviceSettings().changed(changes)
    settings.for_core()
    client_settings(settings, clients=1).pack()


def _read_journal(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=_MEMORY) as file:
        file.write(data)
        file.flush()
        replay.main([file.name, "--check", "--json"], standalone_mode=False)


def _read_remembered(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=_MEMORY) as file:
        file.write(data)
        file.flush()
        ChosenLimits(Path(file.name)).of("any")


def _read_page(data: bytes) -> None:
    """A page that a process brings along from an earlier daemon."""
    descriptor = memory_file("fuzz")
    os.pwrite(descriptor, data.ljust(SIZE, b"\0")[:SIZE], 0)
    seal_size(descriptor)
    page = Page.take_up(descriptor)
    if page is None:
        return
    place = page.take_slot(7)
    assert place is None or place[0] < SLOTS
    assert page.used() < 2**63
    assert page.pooled(7) < 2**63
    page.forget_missing()
    page.close()


def _read_proc(data: bytes) -> None:
    """The kernel's files about a process, parts of which that process can choose."""
    text = data.decode("utf-8", "replace")
    pod, container = parse_cgroup(text)
    assert len(pod) + len(container) <= len(text)
    assert shown_name(text).isprintable()


_MEMORY = "/dev/shm"

READERS: Mapping[str, Reader] = {
    "client-frames": Reader(_decode(client_frames), (WireError,)),
    "daemon-frames": Reader(_decode(daemon_frames), (WireError,)),
    "config": Reader(_read_config, (BadInputError,)),
    "annotations": Reader(_read_annotations),
    "scenario": Reader(_read_scenario, (BadInputError,)),
    "body": Reader(_read_body, (BadInputError,)),
    "journal": Reader(_read_journal, (BadInputError, click.ClickException)),
    "remembered": Reader(_read_remembered),
    "group-page": Reader(_read_page),
    "proc": Reader(_read_proc),
}
