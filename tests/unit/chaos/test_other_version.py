"""A daemon of another version writes and reads other frames. Each difference is tried by itself."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def tell(version: str, code: str) -> list[str]:
    """Return the output of a process that speaks this version."""
    begin = f"from tests.chaos.other_version import VERSIONS\nVERSIONS[{version!r}]()\n"
    use = "from nvshare.wire import codec, frames\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + use + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()


def test_an_earlier_one_skips_frames_that_it_does_not_know_and_does_not_promise_to_answer() -> None:
    said = tell(
        "earlier",
        "flags = frames.SettingFlags.ANSWERS | frames.SettingFlags.PROVIDES_HOST\n"
        "data = frames.Ping(5).pack() + frames.Want(7).pack()\n"
        "print(*codec.client_frames().feed(data))\n"
        "sent = frames.Settings(1, 2, flags, 3).pack()\n"
        "print(*(frame.flags for frame in codec.daemon_frames().feed(sent)))\n",
    )
    assert said == ["Want(turn=7)", "2"]


def test_a_later_one_says_more_and_is_understood_all_the_same() -> None:
    said = tell(
        "later",
        "grant = frames.Grant(7, 8, 9)\n"
        "print(len(grant.pack()))\n"
        "print(*codec.daemon_frames().feed(grant.pack()))\n",
    )
    length, read = said
    assert int(length) == 16 + 24 + 24 + 16 + 5
    assert read == "Grant(turn=7, fill_bytes=8, missing=9)"
