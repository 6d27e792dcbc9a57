"""Which ends of programs are correct."""

import pytest

from tests.chaos.verdict import Verdict, judge, own_words

SHORT = "keeper: cuCtxCreate: CUDA_ERROR_OUT_OF_MEMORY"


@pytest.mark.parametrize(
    ("codes", "said", "is_killed", "is_short", "verdict"),
    [
        ([0], [], False, False, Verdict.FINISHED),
        ([0, 0], [], True, True, Verdict.FINISHED),
        ([-9], [], True, False, Verdict.KILLED),
        ([0, -9], [], True, False, Verdict.KILLED),
        # Killed, but not by the plan.
        ([-9], [], False, True, Verdict.WRONG),
        ([-11], [], True, True, Verdict.WRONG),
        ([-6, -9], [], True, True, Verdict.WRONG),
        ([1], [], False, True, Verdict.WRONG),
        ([1], [SHORT], False, True, Verdict.REFUSED),
        ([1, -9], [SHORT], False, True, Verdict.REFUSED),
        ([1], [SHORT], False, False, Verdict.WRONG),
        ([1], [SHORT, "keeper: 3 of 70 words are wrong"], False, True, Verdict.WRONG),
        ([1], ["keeper: cuMemFree: CUDA_ERROR_INVALID_VALUE"], True, True, Verdict.WRONG),
        # Wrong data counts, whatever the exit code.
        ([0], ["keeper: 3 of 70 words are wrong"], False, False, Verdict.WRONG),
        ([-9], ["keeper: 3 of 70 words are wrong"], True, True, Verdict.WRONG),
    ],
)
def test_judgement(
    codes: list[int], said: list[str], is_killed: bool, is_short: bool, verdict: Verdict
) -> None:
    assert judge(codes, said, is_killed=is_killed, memory_is_short=is_short) is verdict


def test_what_nvshare_says_is_not_the_programs() -> None:
    text = f"nvshare[7]: warning: no daemon\n{SHORT}\nnvshare emulator: not implemented\n"
    assert own_words(text) == [SHORT]
