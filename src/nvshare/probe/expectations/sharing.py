"""What nvshare expects where several programs share a GPU: whose memory leaves, what NVML sees."""

from nvshare.probe.readings import Readings
from nvshare.probe.showing import duration, whole
from nvshare.probe.verdict import Expectation

_MIB = 1 << 20


def _by_faults(readings: Readings) -> float:
    """How long it would take if all memory had to come in by faults."""
    return readings.number("crowded.piece_bytes") / readings.number("faults.gb_per_s") / 1e9


def _against(readings: Readings, name: str) -> str:
    return f"{duration(readings.number(name))}; by faults {duration(_by_faults(readings))}"


SHARING: tuple[Expectation, ...] = (
    Expectation(
        "crowded.moves",
        "reading memory that was prefetched onto a full GPU",
        lambda r: _against(r, "crowded.read_s"),
        lambda r: r.number("crowded.read_s") < _by_faults(r) / 3,
        "much faster than by faults: the prefetch has moved it",
        "published driver: block_alloc_gpu_chunk; no prefetch is skipped because a GPU is full",
        "the next program's prefetch may make the room itself (displace)",
    ),
    Expectation(
        "crowded.helper",
        "then the other process reads the memory that it had touched first",
        lambda r: _against(r, "crowded.helper.read_s"),
        lambda r: r.number("crowded.helper.read_s") > _by_faults(r) / 3,
        "about as slow as by faults: it was pushed out, the oldest first",
        "published driver: pick_root_chunk_to_evict; order of last service, any process",
        "a displaced program marks its memory as away in the order in which it came in",
    ),
    Expectation(
        "crowded.helper.wrong_words",
        "words that are wrong in it",
        whole("crowded.helper.wrong_words"),
        lambda r: r.number("crowded.helper.wrong_words") == 0,
        "none",
        "CUDA programming guide",
        "a program never notices that its memory was away",
    ),
    Expectation(
        "side_by_side.memory",
        "what NVML sees of 64 MiB of plain memory of another process",
        lambda r: f"{r.number('side_by_side.plain_seen_bytes') / _MIB:+,.0f} MiB",
        lambda r: (
            0.5
            < r.number("side_by_side.plain_seen_bytes") / r.number("side_by_side.plain_bytes")
            < 2
        ),
        "about that",
        "published driver: gpuFindClientInfoWithPidIterator",
        "the size of contexts and plain memory is read from NVML",
    ),
    Expectation(
        "side_by_side.utilisation",
        "NVML's utilisation of two busy processes, this one and the other",
        lambda r: (
            f"{r.number('side_by_side.own_percent'):.0f} % and "
            f"{r.number('side_by_side.helper_percent'):.0f} %"
        ),
        lambda r: (
            min(r.number("side_by_side.own_percent"), r.number("side_by_side.helper_percent")) > 10
        ),
        "both are seen",
        "NVML: nvmlDeviceGetProcessUtilization",
        "the GPU time of a program with a share, beside others, is read from NVML",
    ),
    Expectation(
        "calls.launch",
        "cost of cuLaunchKernel",
        whole("calls.launch_ns", "ns"),
        lambda r: r.number("calls.launch_ns") < 50_000,
        "under 50,000 ns",
        "usual: 2 to 6 us",
        "the interposer adds a few nanoseconds to each launch",
    ),
    Expectation(
        "calls.event_record",
        "cost of cuEventRecord",
        whole("calls.event_record_ns", "ns"),
        lambda r: r.number("calls.event_record_ns") < 20_000,
        "under 20,000 ns",
        "usual: about 1 us",
        "events bound the work in flight, one for many launches",
    ),
    Expectation(
        "calls.event_query",
        "cost of cuEventQuery",
        whole("calls.event_query_ns", "ns"),
        lambda r: r.number("calls.event_query_ns") < 20_000,
        "under 20,000 ns",
        "usual: under 1 us",
        "whether work is done is asked while others wait",
    ),
    Expectation(
        "gate.driver",
        "launches through the driver that the gate has seen, of 2,000",
        whole("gate.driver_seen"),
        lambda r: r.number("gate.driver_seen") >= r.number("gate.launches") / 2,
        "nearly all; counted with a delay",
        "docs/interposer.md",
        "no kernel runs outside of a turn",
    ),
    Expectation(
        "gate.runtime",
        "launches through libcudart that the gate has seen, of 2,000",
        whole("gate.runtime_seen"),
        lambda r: r.number("gate.runtime_seen") >= r.number("gate.launches") / 2,
        "nearly all; counted with a delay",
        "docs/interposer.md: libcudart gets its functions by cuGetProcAddress",
        "no kernel runs outside of a turn",
    ),
    Expectation(
        "capture.failures",
        "captures with a side stream that failed while turns changed",
        lambda r: (
            f"{r.get('capture.failures')} of {r.get('capture.captures')}"
            f" in {r.get('capture.turns')} turns"
        ),
        lambda r: r.number("capture.failures") == 0 and r.number("capture.turns") >= 2,
        "none, in two turns or more",
        "CUDA programming guide: what may be called while a stream is captured",
        "a stream that is being captured is never recorded into or waited for",
    ),
    Expectation(
        "capture.wrong_words",
        "words that the captured graphs computed wrongly",
        whole("capture.wrong_words"),
        lambda r: r.number("capture.wrong_words") == 0,
        "none",
        "CUDA programming guide",
        "a program never notices that turns change",
    ),
)
