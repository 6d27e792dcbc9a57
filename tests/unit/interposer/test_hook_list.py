"""hooks.def to hooks, on lists small enough to read."""

from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def functions(modules: dict[str, ModuleType]) -> dict[str, Any]:
    text = """
    CUresult cuOne(int x, CUstream hStream);
    CUresult cuOne_ptsz(int x, CUstream hStream);
    CUresult cuTwo_v2(const void *p);
    CUresult cuTwo_v2_ptds(const void *p);
    CUresult cuThree(void);
    nvmlReturn_t nvmlFour(int x);
    """
    return dict(modules["declarations"].functions(text))


def test_a_line_stands_for_its_flavours(
    modules: dict[str, ModuleType], functions: dict[str, Any]
) -> None:
    hooks = modules["hook_list"].read("launch cuOne\nset cuTwo_v2  # why\n", functions)
    assert [(hook.kind, hook.name, hook.stream, hook.per_thread) for hook in hooks] == [
        ("launch", "cuOne", "hStream", False),
        ("launch", "cuOne_ptsz", "hStream", True),
        ("set", "cuTwo_v2", None, False),
        ("set", "cuTwo_v2_ptds", None, True),
    ]


def test_what_is_only_used_is_not_wrapped(
    modules: dict[str, ModuleType], functions: dict[str, Any]
) -> None:
    hooks = modules["hook_list"].read("use cuOne\ninfo nvmlFour\n", functions)
    assert [hook.name for hook in hooks] == ["cuOne", "nvmlFour"]
    assert [hook.name for hook in modules["hook_list"].wrapped(hooks)] == ["nvmlFour"]
    assert hooks[1].library == "NVML"


def test_a_stream_in_the_third_column(
    modules: dict[str, ModuleType], functions: dict[str, Any]
) -> None:
    (hook,) = modules["hook_list"].read("launch cuThree  a ? a->b : NULL", functions)
    assert hook.stream == "a ? a->b : NULL"
    text = modules["hook_text"].wrappers([hook])
    assert "submit_slow(stream_legacy(a ? a->b : NULL))" in text
    assert "GATE_ENTRY(cuThree, 0, 0, (void), ())" in text


def test_what_lies_on_the_stack_is_counted(
    modules: dict[str, ModuleType], functions: dict[str, Any]
) -> None:
    many = modules["declarations"].Function(
        "CUresult", "cuMany", tuple(f"int a{i}" for i in range(8))
    )
    (hook,) = modules["hook_list"].read("launch cuMany  NULL", {**functions, "cuMany": many})
    text = modules["hook_text"].wrappers([hook])
    assert "GATE_ENTRY(cuMany, 0, 2, (int a0" in text
    assert "sizeof a0 <= 8 && sizeof a1 <= 8" in text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("launch cuNone", "line 1: the headers declare no cuNone"),
        ("\nlunch cuOne", "line 2: lunch is not one of"),
        ("launch", "line 1: the headers declare no function"),
        ("launch cuOne\nset cuOne", "line 2: cuOne is listed twice"),
    ],
)
def test_faults_are_named(
    modules: dict[str, ModuleType], functions: dict[str, Any], text: str, complaint: str
) -> None:
    with pytest.raises(modules["declarations"].HeaderError, match=complaint):
        modules["hook_list"].read(text, functions)
