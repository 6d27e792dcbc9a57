"""Every function of the driver is hooked, or listed with the reason why not."""

import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .conftest import INTERPOSER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# The names of NVML functions that tell about memory, or might.
_ABOUT_MEMORY = re.compile(r"Mem|Process|Fb|Framebuffer")


@pytest.fixture(scope="module")
def functions(modules: dict[str, ModuleType], include: list[Path]) -> dict[str, Any]:
    return dict(modules["generate_hooks"].read_functions("cc", include))


@pytest.fixture(scope="module")
def hooked(modules: dict[str, ModuleType], functions: dict[str, Any]) -> set[str]:
    text = (INTERPOSER / "hooks.def").read_text(encoding="utf-8")
    module = modules["hook_list"]
    return {hook.name for hook in module.wrapped(module.read(text, functions))}


@pytest.fixture(scope="module")
def not_hooked() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((INTERPOSER / "not_hooked.toml").read_text(encoding="utf-8"))


def names_of(groups: list[dict[str, Any]]) -> list[str]:
    return [name for group in groups for name in group["functions"]]


def test_every_driver_function_is_hooked_or_has_a_reason(
    modules: dict[str, ModuleType],
    functions: dict[str, Any],
    hooked: set[str],
    not_hooked: dict[str, list[dict[str, Any]]],
) -> None:
    base_of = modules["pairing"].base_of_flavour
    declared = {base_of(name) or name for name in functions if name.startswith("cu")}
    hooks = {base_of(name) or name for name in hooked if name.startswith("cu")}
    listed = names_of(not_hooked["cuda"])
    assert declared - hooks - set(listed) == set(), (
        "new: put them into hooks.def or not_hooked.toml"
    )
    assert set(listed) - declared == set(), "in not_hooked.toml, and not in cuda.h"
    assert hooks & set(listed) == set(), "in both lists"
    assert [name for name, count in Counter(listed).items() if count > 1] == []


def test_every_nvml_function_about_memory_is_hooked_or_has_a_reason(
    functions: dict[str, Any],
    hooked: set[str],
    not_hooked: dict[str, list[dict[str, Any]]],
) -> None:
    declared = {
        name for name in functions if name.startswith("nvml") and _ABOUT_MEMORY.search(name)
    }
    listed = names_of(not_hooked["nvml"])
    assert declared - hooked - set(listed) == set()
    assert set(listed) - declared == set()
    assert [name for name, count in Counter(listed).items() if count > 1] == []


def test_reasons_are_sentences(not_hooked: dict[str, list[dict[str, Any]]]) -> None:
    for group in (*not_hooked["cuda"], *not_hooked["nvml"]):
        assert group["reason"].endswith(".")
        assert group["functions"]


# The program must see the driver's own answers to these, or the CUDA runtime refuses to work.
@pytest.mark.parametrize(
    "name",
    [
        "cuDeviceGetUuid",
        "cuDeviceGetUuid_v2",
        "cuDeviceGetPCIBusId",
        "cuDeviceGetCount",
        "cuDriverGetVersion",
        "cuGetExportTable",
        "cuDeviceGetName",
    ],
)
def test_identities_are_left_alone(hooked: set[str], name: str) -> None:
    assert name not in hooked


# For every call that names memory, it is known which. Otherwise it would count as a use of all.
NAMES_NO_MEMORY = {
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuLaunch",
    "cuLaunchGrid",
    "cuLaunchGridAsync",
}


def test_calls_tell_which_memory_they_use(
    modules: dict[str, ModuleType], functions: dict[str, Any]
) -> None:
    text = (INTERPOSER / "hooks.def").read_text(encoding="utf-8")
    hooks = modules["hook_list"].read(text, functions)
    made = modules["hook_text"].wrappers(hooks)
    wrappers = re.findall(r"^(?:COLD )?CUresult (?:slow_)?(\w+)\((.*?)^}", made, re.M | re.S)
    base_of = modules["pairing"].base_of_flavour
    anything = {name for name, wrapper in wrappers if "sample_anything" in wrapper}
    assert {base_of(name) or name for name in anything} == NAMES_NO_MEMORY
    seen = {name: "sample_" in wrapper for name, wrapper in wrappers}
    named = {
        hook.name
        for hook in modules["hook_list"].generated(hooks)
        if any(parameter.startswith("CUdeviceptr ") for parameter in hook.function.parameters)
    }
    assert len(named) > 30
    assert all(seen[name] for name in named)


def test_dlopen_is_not_wrapped(modules: dict[str, ModuleType], functions: dict[str, Any]) -> None:
    text = (INTERPOSER / "hooks.def").read_text(encoding="utf-8")
    exported = modules["hook_text"].export_map(modules["hook_list"].read(text, functions))
    assert "dlsym;" in exported
    assert "dlvsym;" in exported
    assert "dlopen" not in exported
