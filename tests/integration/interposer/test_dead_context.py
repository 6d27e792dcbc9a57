"""A program whose context is dead: nothing of its memory can be moved, and that is said slowly."""

import time

import pytest

from nvshare.wire.frames import Evict, Moved, Released

from .swapper import MIB, Swapper

TIMES = 3
# Each answer comes so much later than its order (PUT_OFF_MS in transfer.c).
LEAST_SECONDS = 0.2


@pytest.fixture(params=["managed", "explicit"])
def environment(environment: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    """As for all other guests, with both kinds of memory."""
    return {**environment, "NVSHARE_ALLOCATION": request.param}


def test_an_order_to_move_out_is_answered_after_a_pause(swapper: Swapper) -> None:
    """The daemon needs the room, and gives the same order again as soon as it has an answer."""
    pointer = swapper.allocate(8)
    swapper.touch(pointer)
    code, nowhere = swapper.guest.ask(f"gpu.reserve({2 * MIB})")
    assert code == 0
    # The GPU finds no memory there.
    swapper.guest.ask(f"gpu.upload({nowhere}, 4)")
    assert swapper.guest.ask("gpu.sync()") != 0
    swapper.revoke(0)
    swapper.told(Released)
    began = time.monotonic()
    for _ in range(TIMES):
        swapper.link.send(Evict(8 * MIB))
        assert swapper.told(Moved).out_bytes == 0
    assert time.monotonic() - began >= TIMES * LEAST_SECONDS
