"""What nvshare expects of a machine, its driver and its GPU, before anything is measured."""

from nvshare.probe.readings import Readings
from nvshare.probe.showing import gib, plain, yes_no
from nvshare.probe.verdict import Expectation


def _host_suffices(readings: Readings) -> bool:
    return readings.number("machine.host_bytes") > readings.number("machine.memory_bytes")


def _cgroup_suffices(readings: Readings) -> bool:
    limit = readings.number("machine.cgroup.limit_bytes")
    return limit < 0 or limit > readings.number("machine.memory_bytes")


def _show_limit(readings: Readings) -> str:
    limit = readings.number("machine.cgroup.limit_bytes")
    version = readings.get("machine.cgroup.version")
    return f"{'none' if limit < 0 else f'{limit / (1 << 30):.2f} GiB'} (cgroup v{version})"


MACHINE: tuple[Expectation, ...] = (
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
        "published driver: memory that leaves a GPU is in unswappable host memory",
        "the daemon moves out no more than the host can hold",
    ),
    Expectation(
        "machine.cgroup.limit",
        "memory limit of this process's cgroup",
        _show_limit,
        _cgroup_suffices,
        "none, or more than the GPU has",
        "published driver: uvm_memcg_context_start; host pages are charged to their owner",
        "a program is not asked to move out more than its cgroup can hold",
    ),
)
