"""Write a driver that records its calls, and a victim per hook that calls it.

    recorder_{cuda,nvml}.c  every hooked function: notes its arguments, returns a number of its own
    victims.c               calls each through a pointer, and checks the recorded arguments
    linked.c                the pointers, as the linker finds them
    {cuda,nvml}.map         versions for the recorder's symbols

Usage: generate_victims.py CUDA_INCLUDE OUTPUT
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "native/interposer/generator"))

import generate_hooks  # noqa: E402
import hook_list  # noqa: E402
from declarations import CUDA_HEADERS, Function, functions, pointer_types, preprocess  # noqa: E402
from pairing import pair  # noqa: E402

FIRST_RESULT = 2000
"""No result of the driver is that large, so a wrapper cannot have made it up."""

ANSWERED = {"cuDeviceTotalMem_v2": "*bytes = (size_t)1 << 30"}
"""Functions that succeed, since the interposer needs their answer to do all that it ever does."""

REPLACED = {"fn", "callback", "userData"}
"""What the interposer puts a function of its own in the place of, which calls the program's."""

RECORDED = """
{prototype} {{
    record_begin("{name}");
{notes}    {answer};
    return ({returns}){result};
}}
"""

VICTIM = """
static int call_{name}(void *function) {{
{arguments}    expect_begin("{name}");
{notes}    int result = (int)((__typeof__({name}) *)function)({names});
    return check("{name}", result, {result});
}}
"""


def parameter_names(function: Function) -> list[str]:
    """The names of a function's parameters."""
    return function.arguments.split(", ") if function.parameters else []


def noted_names(hook: hook_list.Hook) -> list[str]:
    """The names of the parameters that reach the driver unchanged."""
    names = parameter_names(hook.function)
    return [name for name in names if hook.kind != "function" or name not in REPLACED]


def recorder(
    hooks: list[hook_list.Hook], results: dict[str, int], entries: list[str] | None = None
) -> str:
    """Definitions that record their arguments. recorder.c has those that the interposer needs."""
    bodies = [
        RECORDED.format(
            prototype=hook.function.prototype,
            name=hook.name,
            notes="".join(f"    NOTE({name});\n" for name in noted_names(hook)),
            answer=ANSWERED.get(hook.name, ""),
            returns=hook.function.returns,
            result=results[hook.name],
        )
        for hook in hooks
        if hook.kind != "lookup"
    ]
    table = ["\nconst struct recorder_entry recorder_entries[] = {\n", *entries] if entries else []
    end = ["    {NULL, 0, 0, NULL},\n};\n"] if entries else []
    return "".join(['#include "recorder.h"\n', *bodies, *table, *end])


def victims(hooks: list[hook_list.Hook], results: dict[str, int], versions: list[str]) -> str:
    """A caller per hook, and a table of them."""
    calls = []
    rows = []
    for hook in hooks:
        if hook.kind == "lookup":
            continue
        arguments = "".join(
            f"    __typeof__({_type(parameter, name)}) {name};\n    FILL({name}, {i});\n"
            for i, (parameter, name) in enumerate(
                zip(hook.function.parameters, parameter_names(hook.function), strict=True)
            )
        )
        names = parameter_names(hook.function)
        calls.append(
            VICTIM.format(
                name=hook.name,
                arguments=arguments,
                notes="".join(f"    NOTE({name});\n" for name in noted_names(hook)),
                names=", ".join(names),
                result=results[hook.name],
            )
        )
        rows.append(f'    {{"{hook.name}", call_{hook.name}}},\n')
    return "".join(
        [
            '#include "victims.h"\n',
            *calls,
            "\nconst struct victim victims[] = {\n",
            *rows,
            "    {NULL, NULL},\n};\n",
            "const struct lookup lookups[] = {\n",
            *versions,
            "    {NULL, 0, 0, NULL},\n};\n",
        ]
    )


def linked(hooks: list[hook_list.Hook]) -> str:
    """The functions as the linker sees them."""
    rows = [
        f'    {{"{hook.name}", (void *){hook.name}}},\n' for hook in hooks if hook.kind != "lookup"
    ]
    return "".join(
        [
            '#include "victims.h"\n\nconst struct linked linked[] = {\n',
            *rows,
            "    {NULL, NULL},\n};\n",
        ]
    )


def _type(parameter: str, name: str) -> str:
    return parameter.removesuffix(name).removeprefix("const ") if parameter.endswith(name) else ""


def _write(output: Path, files: dict[str, str]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (output / name).write_text(text, encoding="utf-8")


def _version_map(name: str) -> str:
    return f"{name} {{ global: cu*; nvml*; recorder_*; local: *; }};\n"


def main(include: Path, output: Path) -> None:
    """Write all files."""
    text = preprocess("cc", [include], CUDA_HEADERS)
    known = generate_hooks.read_functions("cc", [include])
    hooks_def = (ROOT / "native/interposer/hooks.def").read_text(encoding="utf-8")
    hooks = hook_list.wrapped(hook_list.read(hooks_def, known))
    results = {
        hook.name: 0 if hook.name in ANSWERED else FIRST_RESULT + i for i, hook in enumerate(hooks)
    }
    entries = pair(functions(text), pointer_types(text))
    met = {hook.name for hook in hooks}
    versions = [
        (f'    {{"{entry.name}", {version}, {per_thread}, ', symbol)
        for entry in entries
        for symbol, version, per_thread in (
            (entry.symbol, entry.version, 0),
            (entry.per_thread, entry.per_thread_version, 1),
        )
        if symbol in met
    ]
    cuda = [hook for hook in hooks if hook.library == "CUDA"]
    nvml = [hook for hook in hooks if hook.library == "NVML"]
    _write(
        output,
        {
            "recorder_cuda.c": recorder(
                cuda, results, [f"{a}(void *){b}}},\n" for a, b in versions]
            ),
            "recorder_nvml.c": recorder(nvml, results),
            "victims.c": victims(hooks, results, [f'{a}"{b}"}},\n' for a, b in versions]),
            "linked.c": linked(hooks),
            "cuda.map": _version_map("LIBCUDA_1"),
            "nvml.map": _version_map("LIBNVML_1"),
        },
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
