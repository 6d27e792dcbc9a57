"""PyTorch programs print the same without nvshare and under it, with CUDA 12 and with CUDA 13."""

from collections.abc import Mapping, Sequence

import pytest

from .conftest import (
    CUDA_12,
    HERE,
    NEWEST,
    SHARED,
    SHARED_EXPLICIT,
    SHARED_NATIVE,
    MakeNode,
    Start,
    finish,
)

pytestmark = pytest.mark.timeout(900)

BARE: tuple[str, ...] = ()
# The program asks for 40 GiB, and nvshare says why it refuses where the driver would not.
# With explicit memory, it says so too when the GPU is full.
TOO_MUCH = (
    r"GPU 0: \d+ bytes refused: together with the 0 bytes in use, this is more than the GPU has"
    r"|GPU 0: \d+ bytes refused: all explicit memory of a program has to fit on the GPU at the "
    r"same time"
)


def expected(program: str) -> str:
    return (HERE / "expected" / f"{program}.txt").read_text(encoding="utf-8")


def check(
    make_node: MakeNode,
    start: Start,
    program: str,
    *,
    launchers: Sequence[Sequence[str]] = (BARE, SHARED),
    version: str = NEWEST,
    environment: Mapping[str, str] | None = None,
    warning: str = "",
) -> list[str]:
    """Run a program in several ways at the same time; return the rest of standard error.

    ``warning`` matches nvshare's permitted warnings there, which are left out.
    """
    path = HERE / "programs" / f"{program}.py"
    started = [
        start(make_node(), path, launcher=launcher, version=version, environment=environment)
        for launcher in launchers
    ]
    outputs, errors = zip(*(finish(one, warning) for one in started), strict=True)
    assert outputs == (expected(program),) * len(launchers)
    return list(errors)


@pytest.mark.parametrize("version", [NEWEST, CUDA_12])
def test_from_end_to_end(make_node: MakeNode, start: Start, version: str) -> None:
    launchers = (BARE, SHARED, SHARED_EXPLICIT)
    said = check(make_node, start, "tour", launchers=launchers, version=version)
    assert said == ["", "", ""]


@pytest.mark.parametrize("version", [NEWEST, CUDA_12])
def test_running_out_of_memory_and_going_on(
    make_node: MakeNode, start: Start, version: str
) -> None:
    launchers = (BARE, SHARED, SHARED_EXPLICIT)
    said = check(make_node, start, "memory", launchers=launchers, version=version, warning=TOO_MUCH)
    assert said == ["", "", ""]


# PyTorch itself warns here of features that a T4 lacks, and of memory that it does not get.
@pytest.mark.parametrize("allocator", ["expandable_segments:True", "backend:cudaMallocAsync"])
def test_other_allocators(make_node: MakeNode, start: Start, allocator: str) -> None:
    environment = {"PYTORCH_ALLOC_CONF": allocator}
    launchers = (BARE, SHARED, SHARED_EXPLICIT)
    check(
        make_node,
        start,
        "memory",
        launchers=launchers,
        environment=environment,
        warning=TOO_MUCH,
    )


def test_spawned_processes(make_node: MakeNode, start: Start) -> None:
    check(make_node, start, "spawn")


def test_a_tensor_shared_between_processes(make_node: MakeNode, start: Start) -> None:
    check(make_node, start, "share", launchers=(BARE, SHARED_NATIVE))


def test_math_libraries_do_not_start_and_do_no_harm(make_node: MakeNode, start: Start) -> None:
    check(make_node, start, "libraries")
