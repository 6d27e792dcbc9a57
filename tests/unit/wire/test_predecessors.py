"""Frames of earlier versions are still understood, and those of today are understood by them.

predecessors/ has frames of earlier versions, byte for byte, and the layout by which they read.
"""

import json
import runpy
from dataclasses import fields
from pathlib import Path
from shutil import copy
from struct import Struct
from typing import Any, get_args

import pytest

from nvshare.wire import codec, frames
from nvshare.wire.codec import client_frames, daemon_frames
from nvshare.wire.frames import HEADER
from protocol import python_text
from protocol.model import read_protocol
from tools.record_frames import FOLDER, record

ROOT = Path(__file__).parents[3]
RECORDED = {
    (path.stem, name): frame
    for path in sorted(FOLDER.glob("*.json"))
    for name, frame in json.loads(path.read_text(encoding="utf-8")).items()
}
TODAY = record()
# Fields that no reader has ever used: they are sent as 0 now.
RETIRED = {("Limits", "compute_percent")}
CLASSES = {cls.__name__: cls for cls in get_args(frames.Frame)}


def test_there_are_predecessors_and_some_of_their_frames_are_shorter() -> None:
    shorter = {
        name
        for (_, name), frame in RECORDED.items()
        if len(frame["bytes"]) < len(TODAY[name]["bytes"])
    }
    assert {"Hello", "Released", "Memory", "Moved", "Grant", "Revoke", "Standby"} <= shorter


@pytest.mark.parametrize("which", RECORDED, ids=" ".join)
def test_what_a_predecessor_sends_is_read(which: tuple[str, str]) -> None:
    frame = RECORDED[which]
    decoder: codec.Decoder[Any] = client_frames() if frame["from"] == "client" else daemon_frames()
    (read,) = decoder.feed(bytes.fromhex(frame["bytes"]))
    assert type(read) is CLASSES[which[1]]
    values = {one.name: getattr(read, one.name) for one in fields(read)}
    told = {name: _plain(values.pop(name)) for name in frame["values"] if name in values}
    assert told == {name: value for name, value in frame["values"].items() if name in told}
    # Fields that it does not know are 0, and not a guess.
    assert set(values.values()) <= {0}


@pytest.mark.parametrize("which", RECORDED, ids=" ".join)
def test_what_we_send_is_read_by_a_predecessor(which: tuple[str, str]) -> None:
    then, now = RECORDED[which], TODAY[which[1]]
    assert (now["from"], now["descriptor"]) == (then["from"], then["descriptor"])
    theirs, ours = bytes.fromhex(then["bytes"]), _with_values_of(then, now, CLASSES[which[1]])
    version, kind, length = HEADER.unpack_from(ours)[1:4]
    # It takes no frame of a version that came after it.
    assert (version, kind) == HEADER.unpack_from(theirs)[1:3]
    assert length >= HEADER.unpack_from(theirs)[3]
    read = Struct(then["layout"]).unpack_from(ours, HEADER.size)
    sent = Struct(then["layout"]).unpack_from(theirs, HEADER.size)
    expected = [
        0 if (which[1], name) in RETIRED else _plain(one)
        for name, one in zip(then["values"], sent, strict=True)
    ]
    # Every field that it knows is at its old place.
    assert [_plain(one) for one in read] == expected


def _with_values_of(then: dict[str, Any], now: dict[str, Any], cls: Any) -> bytes:
    """Return a frame of today with all values of an earlier one."""
    values = {}
    for one in fields(cls):
        kind: Any = one.type
        value = then["values"].get(one.name, now["values"][one.name])
        values[one.name] = bytes.fromhex(value) if kind is bytes else kind(value)
    return bytes(cls(**values).pack())


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return int(value) if isinstance(value, int) else value


def test_a_version_in_which_one_frame_has_changed_parts_peers_over_that_frame_only(
    tmp_path: Path,
) -> None:
    """The next version that changes a meaning, made from today's table: GRANT is different."""
    table = (ROOT / "protocol" / "frames.toml").read_text(encoding="utf-8")
    assert "\nversion = 1 " in table or "\nversion = 1\n" in table
    table = table.replace("\nversion = 1", "\nversion = 2", 1)
    table = table.replace("[frames.GRANT]\n", "[frames.GRANT]\nversion = 2\n", 1)
    path = tmp_path / "frames.toml"
    path.write_text(table, encoding="utf-8")
    copy(ROOT / "protocol" / "limits.toml", tmp_path)
    module = tmp_path / "later.py"
    module.write_text(python_text.frames_module(read_protocol(path)), encoding="utf-8")
    later = runpy.run_path(str(module))
    # Its HELLO is understood today, and so are all its frames but the one.
    (hello,) = client_frames().feed(bytes.fromhex(TODAY["Hello"]["bytes"]))
    values = [getattr(hello, one.name) for one in fields(hello)]
    assert list(client_frames().feed(later["Hello"](*values).pack())) == [hello]
    assert list(daemon_frames().feed(later["Welcome"](1, "2").pack())) == [frames.Welcome(1, "2")]
    with pytest.raises(
        codec.VersionError, match="the frames have version 2, and this side understands version 1"
    ):
        list(daemon_frames().feed(later["Grant"](1, 0, 0).pack()))
    assert (later["OLDEST_VERSION"], later["VERSION"]) == (1, 2)
