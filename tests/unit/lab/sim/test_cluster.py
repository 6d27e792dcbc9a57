from nvshare.lab.sim.cluster import cluster_day


def test_a_thousand_gpus_and_ten_thousand_jobs_on_one_day() -> None:
    day = cluster_day(0)
    assert len(day.profiles()) == 1000
    assert len(day.program) == 10_000
    assert all(program.arrival < 86400 for program in day.program)


def test_another_seed_is_another_day() -> None:
    assert cluster_day(1, nodes=1, jobs=20) == cluster_day(1, nodes=1, jobs=20)
    assert cluster_day(1, nodes=1, jobs=20) != cluster_day(2, nodes=1, jobs=20)
