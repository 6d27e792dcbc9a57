"""The daemon of this tree, talking as one of another version does.

    python -m tests.chaos.other_version earlier|later daemon …

Versions that may take over from each other differ in their frames (protocol/frames.toml). So frames
are changed where they are written and read, before anything reads or writes one. All the rest is
the real daemon.

* An ``earlier`` one does not know the frames that have come since the last recording
  (tools/record_frames.py), nor the fields: programs are ahead of it.
* A ``later`` one writes longer frames, and in between some of an unknown type: programs are behind
  it.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

from nvshare.wire import frames
from nvshare.wire.frames import HEADER, MAGIC, SettingFlags
from tools.record_frames import FOLDER

_UNKNOWN_FIELDS = b"\xff" * 24
_UNKNOWN_FRAME = HEADER.pack(MAGIC, frames.VERSION, 250, 5, 0) + b"later"


def speak_earlier() -> None:
    """Know only the frames of the last recording."""
    recorded = json.loads(max(FOLDER.glob("*.json")).read_text(encoding="utf-8"))
    heads = (HEADER.unpack_from(bytes.fromhex(frame["bytes"])) for frame in recorded.values())
    # Bytes of payload by type.
    sizes = {kind: length for _, _, kind, length, _ in heads}
    _patch_writing(lambda frame, data: _cut(data, sizes[frame.TYPE]))
    _patch_reading(sizes)
    if frames.Ping.TYPE not in sizes:
        _promise_no_answers()


def speak_later() -> None:
    """Send more than programs understand."""
    _patch_writing(lambda _, data: _grown(data) + _UNKNOWN_FRAME)


VERSIONS: dict[str, Callable[[], None]] = {"earlier": speak_earlier, "later": speak_later}


def _patch_writing(change: Callable[[Any, bytes], bytes]) -> None:
    for cls in get_args(frames.FromDaemon):
        write = cls.pack
        cls.pack = lambda self, write=write: change(self, write(self))


def _patch_reading(sizes: dict[int, int]) -> None:
    known = []
    for cls in get_args(frames.FromClient):
        size = sizes.get(cls.TYPE)
        if size is not None:
            read = cls.unpack
            cls.unpack = lambda payload, read=read, size=size: read(payload[:size])
            known.append(cls)
    # It skips the others, as every reader skips unknown types.
    frames.FromClient = _union(known)


def _union(classes: list[Any]) -> Any:
    whole = classes[0]
    for one in classes[1:]:
        whole |= one
    return whole


def _promise_no_answers() -> None:
    """Do not say that PING is answered: a daemon that does not know it does not."""
    write = frames.Settings.pack

    def pack(self: frames.Settings) -> bytes:
        return write(replace(self, flags=self.flags & ~SettingFlags.ANSWERS))

    frames.Settings.pack = pack  # type: ignore[method-assign]


def _cut(data: bytes, size: int) -> bytes:
    return _with_length(data[: HEADER.size + size])


def _grown(data: bytes) -> bytes:
    return _with_length(data + _UNKNOWN_FIELDS)


def _with_length(data: bytes) -> bytes:
    magic, version, kind, _, reserved = HEADER.unpack_from(data)
    length = len(data) - HEADER.size
    return HEADER.pack(magic, version, kind, length, reserved) + data[HEADER.size :]


def main() -> None:
    """Change the frames, then be ``nvshare`` with the rest of the words."""
    VERSIONS[sys.argv.pop(1)]()
    # Only now: this import has to find the changed frames.
    from nvshare.cli.main import main as nvshare

    nvshare()


if __name__ == "__main__":
    main()
