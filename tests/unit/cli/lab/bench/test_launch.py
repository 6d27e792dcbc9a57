from nvshare.cli.lab.bench.launch import measure


def test_a_call_is_measured_with_the_model_and_without() -> None:
    first = next(measure())

    assert first["what"] == "launch"
    assert first["model_on_ns"] > 0
    assert first["model_off_ns"] > 0
