"""What nvshare expects of managed memory: which counters include it, and how it moves."""

from nvshare.probe.host import kernel_version
from nvshare.probe.readings import Readings
from nvshare.probe.showing import change, changed, piece, seconds, whole
from nvshare.probe.verdict import Expectation

_MIB = 1 << 20
# The driver takes GPU memory in batches of 64 blocks, and keeps the unused rest of a batch.
_BATCH = 128 * _MIB


def _charged(readings: Readings) -> bool:
    if kernel_version(str(readings.get("machine.kernel"))) < (5, 14):
        return True
    return changed(readings, "cgroup", "touched", "out") > piece(readings) / 2


def _difference(readings: Readings) -> float:
    return readings.number("memory.context.cuda_free") - readings.number("memory.context.nvml_free")


def _part(readings: Readings, name: str) -> float:
    call, total = readings.number(f"{name}.call_s"), readings.number(f"{name}.total_s")
    return min(1.0, call / max(call, total))


def _first(readings: Readings) -> float:
    first = readings.number("blocks.out.first.total_us")
    return first / readings.number("blocks.out.second.total_us")


def _untouched_speed(readings: Readings) -> float:
    seconds = max(readings.number("untouched.seconds"), 1e-9)
    return readings.number("untouched.piece_bytes") / seconds / 1e9


def _against_faults(readings: Readings) -> float:
    return readings.number("prefetch.in.second.gb_per_s") / readings.number("faults.gb_per_s")


MOVES: tuple[Expectation, ...] = (
    Expectation(
        "memory.free.touched",
        "free GPU memory when managed memory is touched there",
        change("cuda_free", "allocated", "touched"),
        lambda r: -changed(r, "cuda_free", "allocated", "touched") > piece(r) * 0.75,
        "falls by what was touched",
        "published driver: alloc_root_chunk, pmaGetFreeMemory",
        "free memory tells how much a program alone can still have",
    ),
    Expectation(
        "memory.free.out",
        "free GPU memory when managed memory leaves for the host",
        change("cuda_free", "touched", "out"),
        lambda r: changed(r, "cuda_free", "touched", "out") < piece(r) / 4,
        "does not rise",
        "published driver: block_clear_resident_processor, pmaGetFreeMemory",
        "no program waits for free memory; the daemon computes the room from the moves it knows of",
    ),
    Expectation(
        "memory.free.freed",
        "free GPU memory when managed memory is freed",
        change("cuda_free", "module", "freed"),
        lambda r: abs(changed(r, "cuda_free", "module", "freed")) <= _BATCH + 32 * _MIB,
        "as before it was allocated, but for a batch of 128 MiB",
        "published driver: uvm_pmm_gpu_free, alloc_root_chunk",
        "memory that a program frees is room at once",
    ),
    Expectation(
        "memory.free.agree",
        "free GPU memory: cuMemGetInfo less NVML",
        lambda r: f"{_difference(r) / _MIB:+,.0f} MiB",
        lambda r: abs(_difference(r)) < max(64 * _MIB, r.number("machine.memory_bytes") / 16),
        "about the same",
        "inferred: both show the free frames of PMA",
        "the daemon reads NVML, programs read cuMemGetInfo",
    ),
    Expectation(
        "memory.process",
        "NVML's memory of this process when managed memory is touched",
        change("process", "allocated", "touched"),
        lambda r: changed(r, "process", "allocated", "touched") < piece(r) / 4,
        "does not rise",
        "published driver: gpuFindClientInfoWithPidIterator",
        "NVML reports the context, the modules and the plain memory of a process: these are pinned",
    ),
    Expectation(
        "memory.host.out",
        "host memory in use when managed memory leaves the GPU",
        change("host_used", "touched", "out"),
        lambda r: changed(r, "host_used", "touched", "out") > piece(r) / 2,
        "rises by what has left",
        "published driver: block_populate_pages_cpu",
        "memory that is out counts against the host's memory",
    ),
    Expectation(
        "memory.host.back",
        "host memory in use when it has come back to the GPU",
        change("host_used", "touched", "back"),
        lambda r: changed(r, "host_used", "touched", "back") > piece(r) / 2,
        "stays",
        "published driver: callers of uvm_cpu_chunk_free",
        "the most memory that was ever out counts against the host, not the memory that is out now",
    ),
    Expectation(
        "memory.host.freed",
        "host memory in use when it has been freed",
        change("host_used", "back", "freed"),
        lambda r: changed(r, "host_used", "back", "freed") < -piece(r) / 2,
        "falls again",
        "published driver: uvm_cpu_chunk_free",
        "a program that frees memory gives its host memory back",
    ),
    Expectation(
        "memory.cgroup.out",
        "charged to this process's cgroup when managed memory leaves the GPU",
        change("cgroup", "touched", "out"),
        _charged,
        "rises by what has left (kernels from 5.14 on)",
        "published driver: uvm_memcg_context_start, flag ACCOUNT",
        "the daemon keeps count for each memory cgroup; the rule for pods' memory limits",
    ),
    Expectation(
        "prefetch.out.blocks",
        "part of a prefetch to the host that the call itself takes",
        lambda r: f"{_part(r, 'prefetch.out.second'):.0%}",
        lambda r: _part(r, "prefetch.out.second") > 0.8,
        "nearly all of it",
        "published driver: block_map_cpu_page_to; the calling thread works and waits",
        "a thread of its own moves memory out, in calls of a few tens of milliseconds",
    ),
    Expectation(
        "prefetch.in.returns",
        "part of a prefetch to the GPU that the call itself takes",
        lambda r: f"{_part(r, 'prefetch.in.second'):.0%}",
        lambda r: _part(r, "prefetch.in.second") < 0.8,
        "less than it all: copies go on afterwards",
        "published driver: uvm_migrate; a semaphore of the GPU tells the end",
        "several pieces are under way at a time, and events tell when they are there",
    ),
    Expectation(
        "blocks.first",
        "a block's first way to the host, against its second one",
        lambda r: f"{_first(r):.2f} x as long",
        lambda r: _first(r) > 1.05,
        "longer: the host's pages have to be made",
        "published driver: block_populate_pages_cpu; pages stay until the range is freed",
        "speeds are averages, and the first turns are not typical",
    ),
    Expectation(
        "prefetch.busy.out",
        "a prefetch to the host behind work in its stream: the call takes",
        seconds("prefetch.busy.out.call_s"),
        lambda r: r.number("prefetch.busy.out.call_s") < r.number("prefetch.busy.work_s") / 2,
        "less than the work: it is put off to a thread of the driver",
        "inferred: NVIDIA's blog of 2017 on prefetching; the code is closed",
        "moves have streams of their own, in which nothing else waits",
    ),
    Expectation(
        "prefetch.both",
        "both directions at once, against one after the other",
        lambda r: f"{r.number('prefetch.both.gain'):.2f} x as fast",
        lambda r: r.number("prefetch.both.gain") > 1.2,
        "faster by a fifth or more",
        "published driver: uvm_channel.c; copies each way have channels of their own",
        "at a change of turn one program leaves while the next one comes",
    ),
    Expectation(
        "prefetch.wrong_words",
        "words that are wrong after moving out and back twice",
        whole("prefetch.wrong_words"),
        lambda r: r.number("prefetch.wrong_words") == 0,
        "none",
        "CUDA programming guide",
        "a program never notices that its memory was away",
    ),
    Expectation(
        "mapped.wrong_words",
        "wrong words after being copied out, unmapped, mapped anew and copied in, twice",
        whole("mapped.wrong_words"),
        lambda r: r.number("mapped.wrong_words") == 0,
        "none",
        "CUDA programming guide",
        "memory that moves explicitly comes back to its old address as it was",
    ),
    Expectation(
        "untouched.host",
        "host memory for a prefetch to the host of memory never touched",
        lambda r: f"{r.number('untouched.host_bytes') / _MIB:+,.0f} MiB",
        lambda r: r.number("untouched.host_bytes") > r.number("untouched.piece_bytes") / 2,
        "is made, all of it",
        "published driver: block_populate_pages_cpu, zeroed",
        "untouched memory is neither moved out nor brought in",
    ),
    Expectation(
        "untouched.time",
        "speed of a prefetch to the host of memory never touched",
        lambda r: f"{_untouched_speed(r):,.0f} GB/s",
        lambda r: _untouched_speed(r) < 200,
        "takes its time: pages are made and cleared",
        "published driver: block_populate_pages_cpu, zeroed",
        "untouched memory is neither moved out nor brought in",
    ),
    Expectation(
        "faults.slow",
        "bringing memory in by prefetch, against by faults",
        lambda r: f"{_against_faults(r):.1f} x as fast",
        lambda r: _against_faults(r) > 1.5,
        "much faster",
        "published driver: uvm_perf_prefetch.c; faults are served 64 KiB to 2 MiB at a time",
        "memory is moved in bulk at a change of turn, and does not wait for faults",
    ),
)
