import pytest

from nvshare.lab.sim.ideal import Job, earliest_end

ALONE = 100.0


@pytest.mark.parametrize(
    ("jobs", "end"),
    [
        ([], 0.0),
        ([Job(0, ALONE, ALONE)], 100),
        # Programs that need the GPU all the time follow each other; programs that rest do not.
        ([Job(0, ALONE, ALONE)] * 2, 200),
        ([Job(0, ALONE, 10)] * 6, 100),
        ([Job(0, ALONE, 40)] * 6, 240),
        # A late program has none before it, or ends last.
        ([Job(0, ALONE, ALONE), Job(500, ALONE, ALONE)], 600),
        ([Job(0, ALONE, ALONE), Job(50, ALONE, ALONE)], 200),
        ([Job(0, ALONE, 0), Job(50, ALONE, 0)], 150),
    ],
)
def test_the_earliest_end(jobs: list[Job], end: float) -> None:
    assert earliest_end(jobs) == end
