import os
import sys

import pytest

from nvshare.cli.lab.trial.actor import Actor, Ending
from nvshare.errors import NvshareError


def begun(*lines: str, before: str = "") -> Actor:
    """Start a program that runs ``before``, is ready, and runs the rest when told to."""
    program = [before, "print('ready', flush=True)", "assert input() == '1 2.500000000'", *lines]
    actor = Actor([sys.executable, "-c", "\n".join(program)], os.environ)
    actor.wait_until_ready()
    actor.begin(1, 2.5)
    return actor


def test_one_that_says_a_lot_is_not_held_up_by_it() -> None:
    actor = begun(
        """print('{"seconds": 3.5}')""",
        before="import sys; sys.stderr.write('another line of progress\\n' * 10_000)",
    )
    assert actor.ending() == Ending(3.5)


def test_what_it_says_of_itself() -> None:
    actor = begun(
        """print('{"workload": "x", "seconds": 1, "iterations_per_s": 2, "phases": [0.5]}')"""
    )
    assert actor.ending() == Ending(1, 2, (0.5,))


def test_one_that_fails_says_why() -> None:
    with pytest.raises(NvshareError) as caught:
        begun(before="raise SystemExit('no such thing')")
    assert caught.value.why == "no such thing"
    actor = begun("raise SystemExit('went wrong later')")
    with pytest.raises(NvshareError) as caught:
        actor.ending()
    assert caught.value.why == "went wrong later"
