import time

from nvshare.probe.clock import Clock


def test_emulated_seconds_are_shorter() -> None:
    assert Clock({}).speed == 1
    clock = Clock({"NVSHARE_EMULATOR_SPEED": "50"})
    before = time.perf_counter()
    now = clock.now()
    after = time.perf_counter()
    assert before * 50 <= now <= after * 50
