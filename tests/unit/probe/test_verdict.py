from nvshare.probe.readings import Readings
from nvshare.probe.verdict import Expectation, Fact, Line, Verdict, judge

FACT = Fact("bus.in", "speed", lambda r: f"{r.number('bus.speed'):g} GB/s")
EXPECTATION = Expectation(
    "bus.fast",
    "is it fast",
    lambda r: str(r.get("bus.speed")),
    lambda r: r.number("bus.speed") > 10,
    "more than 10",
    "the data sheet",
    "everything",
)


def test_what_was_measured() -> None:
    fact, line = judge(Readings({"bus.speed": 12}), [FACT, EXPECTATION])
    assert fact == Line("bus.in", "speed", "12 GB/s", "", Verdict.INFO)
    expected = ("more than 10", Verdict.OK, "the data sheet", "everything")
    assert line == Line("bus.fast", "is it fast", "12", *expected)


def test_what_is_not_as_expected() -> None:
    (line,) = judge(Readings({"bus.speed": 9}), [EXPECTATION])
    assert line.verdict is Verdict.BAD


def test_what_could_not_be_measured_says_why() -> None:
    readings = Readings({}, {"bus": "cuMemAlloc answers CUDA_ERROR_OUT_OF_MEMORY (2)"})
    for line in judge(readings, [FACT, EXPECTATION]):
        assert line.verdict is Verdict.UNKNOWN
        assert line.measured == "cuMemAlloc answers CUDA_ERROR_OUT_OF_MEMORY (2)"


def test_text_where_a_number_should_be_is_no_reading() -> None:
    (line,) = judge(Readings({"bus.speed": "fast"}), [EXPECTATION])
    assert line.verdict is Verdict.UNKNOWN
