import pytest

from nvshare.cli.lab.bench import mix_runs
from nvshare.cli.lab.bench.mixes import choose_mixes, mix


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    (cases,) = choose_mixes(4, "design", (), {}).values()
    alone, together = (list(mix_runs.run("design", cases, 60.0, jobs)) for jobs in (1, 2))
    assert alone == together
    assert [line.get("mix") for line in alone] == ["design-0", "design-1", None]
    assert alone[-1]["mixes"] == 2
    assert set(alone[-1]["within"]) <= set(alone[-1])


def test_without_mixes_there_is_no_summary() -> None:
    assert list(mix_runs.run("design", [], 60.0, 1)) == []


def test_a_mix_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a rule was broken")

    monkeypatch.setattr(mix_runs, "simulated", fail)
    with pytest.raises(RuntimeError, match="the mix unseen-4 failed: a rule was broken"):
        list(mix_runs.run("chosen", [mix("unseen-4", {})], 60.0, 1))
