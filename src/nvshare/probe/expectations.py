"""What nvshare relies on, as a table. BAD means: the driver does not do that here.

Each entry says who says so, and which decision hangs on it. "Published driver" is the source of
NVIDIA's open kernel modules, 595.45.04, by function; "inferred" means that it follows from there,
or is known of the closed half of the driver from hearsay. No entry has been seen on hardware yet.
"""

from nvshare.probe.host import kernel_version
from nvshare.probe.readings import Readings
from nvshare.probe.showing import (
    change,
    changed,
    duration,
    gib,
    piece,
    plain,
    seconds,
    whole,
    yes_no,
)
from nvshare.probe.verdict import Expectation

_MIB = 1 << 20
# The driver takes GPU memory in batches of 64 blocks, and keeps what is left of one.
_BATCH = 128 * _MIB


def _leaves_free_alone(first: str, then: str) -> "Expectation":
    return Expectation(
        f"memory.free.{then}",
        "free GPU memory when managed memory leaves for the host",
        change("cuda_free", first, then),
        lambda r: changed(r, "cuda_free", first, then) < piece(r) / 4,
        "does not rise",
        "published driver: block_clear_resident_processor, pmaGetFreeMemory",
        "nobody waits for free memory; what the daemon knows of moves is the room there is",
    )


def _charged(readings: Readings) -> bool:
    if kernel_version(str(readings.get("machine.kernel"))) < (5, 14):
        return True
    return changed(readings, "cgroup", "touched", "out") > piece(readings) / 2


def _host_suffices(readings: Readings) -> bool:
    return readings.number("machine.host_bytes") > readings.number("machine.memory_bytes")


def _cgroup_suffices(readings: Readings) -> bool:
    limit = readings.number("machine.cgroup.limit_bytes")
    return limit < 0 or limit > readings.number("machine.memory_bytes")


def _show_limit(readings: Readings) -> str:
    limit = readings.number("machine.cgroup.limit_bytes")
    version = readings.get("machine.cgroup.version")
    return f"{'none' if limit < 0 else f'{limit / (1 << 30):.2f} GiB'} (cgroup v{version})"


EXPECTATIONS: tuple[Expectation, ...] = (
    Expectation(
        "machine.compute_mode",
        "compute mode",
        plain("machine.compute_mode"),
        lambda r: r.get("machine.compute_mode") == "default",
        "default",
        "NVML: other modes let one process in at a time",
        "programs that share a GPU all have contexts on it",
    ),
    Expectation(
        "machine.mps",
        "MPS daemon",
        plain("machine.mps"),
        lambda r: r.get("machine.mps") == "none",
        "none",
        "inferred: programs of one MPS server share a context, and the faults in it",
        "NVML tells programs apart, and one that dies takes no other with it",
    ),
    Expectation(
        "machine.mig",
        "MIG",
        yes_no("machine.mig"),
        lambda r: r.get("machine.mig") is False,
        "no",
        "published driver: each instance has memory of its own, and all share one fault buffer",
        "a device of nvshare is a whole GPU",
    ),
    Expectation(
        "machine.managed_memory",
        "managed memory",
        yes_no("machine.managed_memory"),
        lambda r: bool(r.get("machine.managed_memory")),
        "yes",
        "CUDA programming guide",
        "memory that can be moved is managed memory",
    ),
    Expectation(
        "machine.concurrent_managed_access",
        "concurrent managed access",
        yes_no("machine.concurrent_managed_access"),
        lambda r: bool(r.get("machine.concurrent_managed_access")),
        "yes",
        "CUDA programming guide: without it nothing can be prefetched, nor exceed the GPU",
        "programs may have more memory together than the GPU",
    ),
    Expectation(
        "machine.uuid",
        "UUID of the GPU: CUDA and NVML",
        plain("machine.uuid_cuda"),
        lambda r: r.get("machine.uuid_cuda") == r.get("machine.uuid_nvml"),
        "the same",
        "documentation of both",
        "a client names its GPU by the UUID that the daemon has from NVML",
    ),
    Expectation(
        "machine.pci",
        "PCI address: CUDA and NVML",
        plain("machine.pci_cuda"),
        lambda r: r.get("machine.pci_cuda") == r.get("machine.pci_nvml"),
        "the same",
        "documentation of both",
        "the CUDA runtime compares them",
    ),
    Expectation(
        "machine.host_bytes",
        "memory of the host, against that of the GPU",
        gib("machine.host_bytes"),
        _host_suffices,
        "more than the GPU has",
        "published driver: what leaves a GPU is in unswappable host memory",
        "the daemon moves out no more than the host can hold",
    ),
    Expectation(
        "machine.cgroup.limit",
        "memory limit of this process's cgroup",
        _show_limit,
        _cgroup_suffices,
        "none, or more than the GPU has",
        "published driver: uvm_memcg_context_start; host pages are charged to their owner",
        "a program is not asked to move out what its cgroup cannot hold",
    ),
    Expectation(
        "memory.free.touched",
        "free GPU memory when managed memory is touched there",
        change("cuda_free", "allocated", "touched"),
        lambda r: -changed(r, "cuda_free", "allocated", "touched") > piece(r) * 0.75,
        "falls by what was touched",
        "published driver: alloc_root_chunk, pmaGetFreeMemory",
        "free memory tells how much a program alone can still have",
    ),
    _leaves_free_alone("touched", "out"),
    Expectation(
        "memory.free.freed",
        "free GPU memory when managed memory is freed",
        change("cuda_free", "module", "freed"),
        lambda r: abs(changed(r, "cuda_free", "module", "freed")) <= _BATCH + 32 * _MIB,
        "as before it was allocated, but for a batch of 128 MiB",
        "published driver: uvm_pmm_gpu_free, alloc_root_chunk",
        "what a program frees is room at once",
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
        "what NVML tells of a process is its context, modules and plain memory: pinned",
    ),
    Expectation(
        "memory.host.out",
        "host memory in use when managed memory leaves the GPU",
        change("host_used", "touched", "out"),
        lambda r: changed(r, "host_used", "touched", "out") > piece(r) / 2,
        "rises by what has left",
        "published driver: block_populate_pages_cpu",
        "what is out counts against the host's memory",
    ),
    Expectation(
        "memory.host.back",
        "host memory in use when it has come back to the GPU",
        change("host_used", "touched", "back"),
        lambda r: changed(r, "host_used", "touched", "back") > piece(r) / 2,
        "stays",
        "published driver: callers of uvm_cpu_chunk_free",
        "the most that was ever out counts against the host, not what is out now",
    ),
    Expectation(
        "memory.host.freed",
        "host memory in use when it has been freed",
        change("host_used", "back", "freed"),
        lambda r: changed(r, "host_used", "back", "freed") < -piece(r) / 2,
        "falls again",
        "published driver: uvm_cpu_chunk_free",
        "who frees memory gives back what it took of the host",
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
        "prefetch.out.first",
        "first prefetch to the host, against the second one",
        lambda r: f"{_first(r):.2f} x as long",
        lambda r: _first(r) > 1.02,
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
        "words that are wrong after going out and back twice",
        whole("prefetch.wrong_words"),
        lambda r: r.number("prefetch.wrong_words") == 0,
        "none",
        "CUDA programming guide",
        "a program never notices that its memory was away",
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
    Expectation(
        "crowded.moves",
        "reading memory that was prefetched onto a full GPU",
        lambda r: _against(r, "crowded.read_s"),
        lambda r: r.number("crowded.read_s") < r.number("faults.seconds") / 3,
        "much faster than by faults: the prefetch has moved it",
        "published driver: block_alloc_gpu_chunk; no prefetch is skipped because a GPU is full",
        "a successor's prefetch may make the room itself (displace)",
    ),
    Expectation(
        "crowded.helper",
        "then the other process reads what it had touched first",
        lambda r: _against(r, "crowded.helper.read_s"),
        lambda r: r.number("crowded.helper.read_s") > r.number("faults.seconds") / 3,
        "about as slow as by faults: it was pushed out, the oldest first",
        "published driver: pick_root_chunk_to_evict; order of last service, any process",
        "who is displaced marks its memory as away in the order in which it came in",
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
        "company.memory",
        "what NVML sees of 64 MiB of plain memory of another process",
        lambda r: f"{r.number('company.plain_seen_bytes') / _MIB:+,.0f} MiB",
        lambda r: 0.5 < r.number("company.plain_seen_bytes") / r.number("company.plain_bytes") < 2,
        "about that",
        "published driver: gpuFindClientInfoWithPidIterator",
        "what contexts and plain memory hold is read from NVML",
    ),
    Expectation(
        "company.utilisation",
        "NVML's utilisation of two busy processes, this one and the other",
        lambda r: (
            f"{r.number('company.own_percent'):.0f} % and "
            f"{r.number('company.helper_percent'):.0f} %"
        ),
        lambda r: min(r.number("company.own_percent"), r.number("company.helper_percent")) > 10,
        "both are seen",
        "NVML: nvmlDeviceGetProcessUtilization",
        "what a program with a share gets beside others is read from NVML",
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


def _difference(readings: Readings) -> float:
    return readings.number("memory.context.cuda_free") - readings.number("memory.context.nvml_free")


def _part(readings: Readings, name: str) -> float:
    call, total = readings.number(f"{name}.call_s"), readings.number(f"{name}.total_s")
    return min(1.0, call / max(call, total))


def _whole_time(readings: Readings, name: str) -> float:
    return max(readings.number(f"{name}.call_s"), readings.number(f"{name}.total_s"))


def _first(readings: Readings) -> float:
    return _whole_time(readings, "prefetch.out.first") / _whole_time(
        readings, "prefetch.out.second"
    )


def _against(readings: Readings, name: str) -> str:
    by_faults = duration(readings.number("faults.seconds"))
    return f"{duration(readings.number(name))}; by faults {by_faults}"


def _untouched_speed(readings: Readings) -> float:
    seconds = max(readings.number("untouched.seconds"), 1e-9)
    return readings.number("untouched.piece_bytes") / seconds / 1e9


def _against_faults(readings: Readings) -> float:
    return readings.number("prefetch.in.second.gb_per_s") / readings.number("faults.gb_per_s")
