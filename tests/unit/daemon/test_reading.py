import pytest

from nvshare.daemon.reading import MOST_BYTES, Rejection, memory_of
from nvshare.wire.frames import Memory as MemoryFrame


def frame(**values: int) -> MemoryFrame:
    names = ("allocated", "pinned", "swapped_out", "untouched", "kept", "ticket")
    return MemoryFrame(**{**dict.fromkeys(names, 0), **values})


def test_what_a_client_has() -> None:
    memory = memory_of(frame(allocated=9, pinned=4, swapped_out=3, untouched=2, kept=1))
    assert (memory.allocated, memory.pinned, memory.swapped) == (9, 4, 3)
    assert (memory.untouched, memory.kept, memory.context) == (2, 1, 0)


def test_what_no_gpu_has_is_refused() -> None:
    assert memory_of(frame(allocated=MOST_BYTES)).allocated == MOST_BYTES
    with pytest.raises(Rejection, match="no GPU has that much memory"):
        memory_of(frame(kept=MOST_BYTES + 1))
