from nvshare.kubernetes.health import Health, Look

GPU = "GPU-a"
WELL = Look()
TELLS_WELL = Look(needs_reset=False)
TELLS_BROKEN = Look(needs_reset=True)
LOST = Look(trouble="GPU is lost")


def test_a_gpu_is_fit_until_something_happens() -> None:
    assert Health().problem(GPU) == ""


def test_a_lost_gpu_is_unfit_until_it_is_back() -> None:
    health = Health()
    health.take_look(GPU, LOST, 1)
    assert health.problem(GPU) == "GPU is lost"
    assert health.is_lost(GPU)
    health.take_look(GPU, WELL, 2)
    assert health.problem(GPU) == ""
    assert not health.is_lost(GPU)


def test_an_xid_of_a_program_is_no_fault_of_the_gpu() -> None:
    health = Health()
    for xid in (13, 31, 43, 45, 68, 109):
        health.take_xid(GPU, xid, 1)
        assert health.problem(GPU) == ""


def test_a_fatal_xid_lasts_until_the_driver_says_that_no_reset_is_needed() -> None:
    health = Health(quiet=10)
    health.take_xid(GPU, 48, 0)
    assert health.problem(GPU) == "XID 48"
    health.take_look(GPU, TELLS_BROKEN, 1000)
    assert health.problem(GPU) == "XID 48"
    health.take_look(GPU, TELLS_WELL, 1001)
    assert health.problem(GPU) == ""


def test_where_the_driver_does_not_tell_a_fatal_xid_lasts_until_all_has_been_quiet() -> None:
    health = Health(quiet=10)
    health.take_xid(GPU, 48, 0)
    health.take_xid(GPU, 63, 5)
    health.take_look(GPU, WELL, 14)
    assert health.problem(GPU) == "XID 63"
    health.take_look(GPU, WELL, 15)
    assert health.problem(GPU) == ""


def test_a_gpu_that_was_lost_and_is_back_has_been_reset() -> None:
    health = Health(quiet=1000)
    health.take_xid(GPU, 79, 0)
    health.take_look(GPU, LOST, 1)
    assert health.problem(GPU) == "GPU is lost"
    health.take_look(GPU, WELL, 2)
    assert health.problem(GPU) == ""


def test_each_gpu_has_its_own_troubles() -> None:
    health = Health()
    health.take_xid(GPU, 48, 0)
    assert health.problem("GPU-b") == ""
