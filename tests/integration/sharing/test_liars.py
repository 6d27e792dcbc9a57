"""A client that lies about its memory, beside real programs: `python -m tools.liars`, but short."""

from tools.liars.trial import Plan, staged

# The turns that each program has to get, so that all have had some.
TURNS = 4


def test_programs_go_on_beside_a_client_that_claims_memory_which_it_has_not() -> None:
    with staged(Plan(honest=2, turn=0.5, speed=20)) as trial:
        liar = trial.lie("memory")
        # Another 12 GiB each time, which cannot leave the GPU: no other program would have room.
        trial.until(lambda _: trial.reports == 1)
        before = trial.turns()
        trial.until_all_have_had([turns + TURNS for turns in before])
        assert liar.poll() is None
        liar.kill()
        liar.wait()
        # When it has ended, nothing of it is left.
        trial.until(lambda status: len(status.clients) == 2)
        before = trial.turns()
        trial.until_all_have_had([turns + TURNS for turns in before])
        assert trial.reports == 1
