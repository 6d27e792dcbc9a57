"""PTX text: the parts that are read, and the messages for mistakes in it."""

import errno
from collections.abc import Callable
from typing import Any

import pytest

Dump = Callable[..., Any]

HEADING = ".version 8.0\n.target sm_75\n.address_size 64\n"


def test_kernels_and_variables(dump: Dump, module: str, module_variables: dict[str, Any]) -> None:
    image = dump(module)
    assert image["variables"] == module_variables
    found = image["kernels"]
    assert list(found) == ["add", "fixed", "large"]
    add = found["add"]
    assert add["parameters"] == [[0, 8], [8, 4], [16, 24], [40, 8], [48, 1]]
    assert add["parameter_bytes"] == 49
    assert add["cost_ns"] == 500_000
    assert (add["shared_bytes"], add["constant_bytes"], add["max_threads"]) == (1024, 20, 512)
    assert found["fixed"]["required_threads"] == [32, 2, 1]
    assert found["fixed"]["max_threads"] == 64
    assert found["large"]["local_bytes"] == 64


def test_size_may_be_unknown(dump: Dump, module: str) -> None:
    assert dump(module + "\0", "--unknown-size") == dump(module)


def test_newer_device_compiles_older_text(dump: Dump, module: str) -> None:
    add = dump(module, "--capability", "90")["kernels"]["add"]
    assert (add["ptx_version"], add["binary_version"]) == (75, 90)


@pytest.mark.parametrize(
    ("target", "device", "accepted"),
    [("80", 75, False), ("90a", 90, True), ("90a", 100, False), ("100f", 103, True)],
)
def test_target(dump: Dump, module: str, target: str, device: int, accepted: bool) -> None:
    text = module.replace("sm_75", f"sm_{target}")
    image = dump(text, "--capability", str(device))
    assert image.get("error") == (None if accepted else errno.EINVAL)
    if not accepted:
        assert "line 3" in image["why"]


@pytest.mark.parametrize(
    ("declaration", "size", "initial"),
    [
        (".global .s32 v = -2;", 4, "feffffff"),
        (".global .f64 v = 1.5;", 8, "000000000000f83f"),
        (".global .f32 v = -1.5e3;", 4, "0080bbc4"),
        (".global .v4 .u8 v = {1, 2, 3, 4};", 4, "01020304"),
        (".global .u16 v[] = {1, 2, 3};", 6, "010002000300"),
        (".global .u8 v[][2] = {{1}, {2, 3}};", 4, "01020300"),
        (".global .u64 v[2] = {generic(w)+8, 0xFF(w)};", 16, "00" * 16),
        (".global .attribute(.managed) .align 8 .b8 v[3];", 3, None),
        (".common .global .b128 v;", 16, None),
        (
            ".global .v2 .f64 v = {0d3FF8000000000000, 1e-3};",
            16,
            "000000000000f83ffca9f1d24d62503f",
        ),
        (".global .u8 v[3] = {0x1fU, 017, 0b11};", 3, "1f0f03"),
    ],
)
def test_variable(dump: Dump, declaration: str, size: int, initial: str | None) -> None:
    assert dump(HEADING + declaration)["variables"] == {"v": (size, initial)}


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("500", 500_000), ("0.5", 500), ("12.3456", 12_345), (".001", 1)],
)
def test_cost(dump: Dump, text: str, nanoseconds: int) -> None:
    pragma = f'.pragma "nounroll", "nvshare cost_us {text}";'
    body = f"{HEADING}.entry k() {{ .loc 1 2 3\n {pragma} ret; }}"
    assert dump(body)["kernels"]["k"]["cost_ns"] == nanoseconds


def test_cost_before_the_body(dump: Dump) -> None:
    text = HEADING + '.entry k() .pragma "nvshare cost_us 2"; { ret; }'
    assert dump(text)["kernels"]["k"]["cost_ns"] == 2000


def test_shared_memory_of_the_module_counts_where_it_is_named(dump: Dump) -> None:
    text = f"""{HEADING}
    .visible .shared .align 4 .b8 first[512];
    .shared .u64 second, third;
    .entry both() {{ mov.u64 %a, first; mov.u64 %b, first; ld.shared.u8 %c, [second+4]; }}
    .entry none() {{ ret; }}
    .entry one() {{ .shared .u8 own; mov.u64 %a, third; }}
    """
    sizes = {name: kernel["shared_bytes"] for name, kernel in dump(text)["kernels"].items()}
    assert sizes == {"both": 520, "none": 0, "one": 16}


def test_what_compilers_put_around_it(dump: Dump) -> None:
    text = f"""{HEADING}
    .file 1 "a.cu", 0, 0
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) ;
    .extern .shared .align 16 .b8 dynamic[];
    .extern .global .u32 elsewhere;
    .global .texref picture;
    .entry prototype(.param .u32 a);
    .entry k .minnctapersm 2 {{ {{ .local .b8 a[3], b; }} L: .shared .u64 s; bra L; }}
    .section .debug_info {{ .b32 1, 2 .b8 3 }}
    """
    image = dump(text)
    assert image["variables"] == {}
    assert list(image["kernels"]) == ["k"]
    assert image["kernels"]["k"]["local_bytes"] == 4
    assert image["kernels"]["k"]["shared_bytes"] == 8


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\0", 1),
        ("what is this", 1),
        ("\n\n.version", 3),
        (HEADING, 4),
        (HEADING + ".entry k(", 4),
        (HEADING + ".entry k(.param .u32 a b) {}", 4),
        (HEADING + ".entry k(.param .u32 a[16000]) {}", 4),
        (HEADING + "\n.entry k() { ret;", 5),
        (HEADING + '.entry k() {\n.pragma "nvshare cost_us soon"; }', 5),
        (HEADING + '.pragma "nvshare cost_us 5";', 4),
        (HEADING + ".global .align 3 .u32 v;", 4),
        (HEADING + ".global .u32 v[2] = {1, 2, 3};", 4),
        (HEADING + ".global .u32 v[2][2] = {1, 2, 3};", 4),
        (HEADING + ".global .u32 v = {1};", 4),
        (HEADING + ".global .u32 v[2] = {1,\n};", 5),
        (HEADING + ".global .u32 v = 1.5;", 4),
        (HEADING + ".global .u32 v[];", 4),
        (HEADING + ".global .b8 v[2000000000] = {1};", 4),
        (HEADING + ".entry k(.param .u32 a[]) {}", 4),
        (HEADING + ".entry k() { .shared .u32 a[]; }", 4),
        (HEADING + '.file "a.cu"', 4),
        (HEADING + ".global .u32 v[99999999999][99999999999];", 4),
        (HEADING + ".global .u32 v; /* no end", 4),
    ],
)
def test_refusal_names_the_line(dump: Dump, text: str, line: int) -> None:
    refusal = dump(text)
    assert refusal["error"] == errno.EINVAL
    assert f"line {line}:" in refusal["why"]


def test_sums_are_refused_and_not_misread(dump: Dump) -> None:
    assert dump(HEADING + ".global .u32 v = 1+2;")["error"] == errno.ENOTSUP
