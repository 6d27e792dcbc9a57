"""The generator of exports, on headers small enough to read."""

import importlib
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[4]
EMULATOR = ROOT / "lab" / "emulator"
HEADERS = ROOT / "native" / "headers"


@pytest.fixture(autouse=True)
def exports_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EMULATOR / "exports"))
    monkeypatch.syspath_prepend(str(HEADERS))


@pytest.fixture
def declarations(exports_on_path: None) -> ModuleType:  # noqa: ARG001
    return importlib.import_module("declarations")


@pytest.fixture
def pairing(exports_on_path: None) -> ModuleType:  # noqa: ARG001
    return importlib.import_module("pairing")


@pytest.fixture
def rendering(exports_on_path: None) -> ModuleType:  # noqa: ARG001
    return importlib.import_module("rendering")


@pytest.fixture
def twins(exports_on_path: None) -> ModuleType:  # noqa: ARG001
    return importlib.import_module("twins")


def test_prototypes(declarations: ModuleType) -> None:
    found = declarations.functions(
        """
        typedef CUresult (*PFN_cuOne_v2000)(int x);
        CUresult cuOne(void);
        extern CUresult
            cuTwo_v2( const char  *name,
                      unsigned sizes[3] );
        __attribute__((deprecated)) nvmlReturn_t nvmlThree(int x);
        const char* nvmlFour(int x);
        static inline CUresult cuFive(int x) { return cuOne(); }
        """
    )
    assert list(found) == ["cuOne", "cuTwo_v2", "nvmlThree", "nvmlFour"]
    assert found["cuOne"].prototype == "CUresult cuOne(void)"
    assert found["cuOne"].arguments == ""
    assert found["cuTwo_v2"].parameters == ("const char *name", "unsigned sizes[3]")
    assert found["cuTwo_v2"].arguments == "name, sizes"
    assert found["nvmlFour"].returns == "const char*"


def test_prototypes_of_the_runtime(declarations: ModuleType) -> None:
    found = declarations.functions(
        """
        extern cudaError_t cudaOne(enum cudaKind kind, struct cudaThing thing );
        extern __attribute__((deprecated)) cudaError_t cudaTwo_ptsz(void);
        extern struct cudaChannelFormatDesc cudaThree(int x);
        void **__cudaFour(void *image);
        void __cudaFive(void **handle);
        unsigned __cudaSix(dim3 grid);
        """
    )
    assert list(found) == [
        *("cudaOne", "cudaTwo_ptsz", "cudaThree", "__cudaFour", "__cudaFive", "__cudaSix")
    ]
    assert found["cudaOne"].arguments == "kind, thing"
    assert found["__cudaFour"].prototype == "void ** __cudaFour(void *image)"


@pytest.mark.parametrize(
    "text",
    [
        "CUresult cuOne(int x); CUresult cuOne(long x);",
        "CUresult cuOne(void (*callback)(int));",
    ],
)
def test_a_prototype_that_is_not_understood_is_an_error(
    declarations: ModuleType, text: str
) -> None:
    with pytest.raises(declarations.HeaderError):
        declarations.functions(text)


def test_a_parameter_without_a_name_cannot_be_passed_on(declarations: ModuleType) -> None:
    function = declarations.functions("CUresult cuOne(int);")["cuOne"]
    with pytest.raises(declarations.HeaderError, match="without a name"):
        _ = function.arguments


def test_enumerators_of_a_tag(declarations: ModuleType) -> None:
    text = "enum first { OTHER = 1 }; enum second { ONE = 0, TWO, THREE = 7 };"
    assert declarations.tagged_enumerators(text, "second") == ["ONE", "TWO", "THREE"]
    with pytest.raises(declarations.HeaderError, match="no enumeration third"):
        declarations.tagged_enumerators(text, "third")


def test_words_of_runtime_errors(rendering: ModuleType) -> None:
    assert rendering.camel_words("cudaErrorInvalidConfiguration") == "invalid configuration"
    assert rendering.camel_words("cudaErrorNoDevice") == "no device"
    assert rendering.camel_words("cudaSuccess") == "success"


def test_an_export_map_with_a_version(rendering: ModuleType) -> None:
    text = rendering.export_map(["cudaB", "cudaA"], version="libx.so.1")
    assert "libx.so.1 {" in text
    assert text.index("cudaA;") < text.index("cudaB;")


def test_enumerators(declarations: ModuleType) -> None:
    text = "typedef enum a { OTHER = 1 } A; typedef enum b_st { ONE = 0, TWO, THREE = 7, } B;"
    assert declarations.enumerators(text, "B") == ["ONE", "TWO", "THREE"]
    with pytest.raises(declarations.HeaderError):
        declarations.enumerators(text, "C")


def test_the_preprocessor_resolves_conditions_and_renaming(
    declarations: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "small.h").write_text(
        """
        #ifdef __CUDA_API_VERSION_INTERNAL
        #define cuOne cuOne_v2_ptsz
        #endif
        CUresult cuOne(int x);
        #undef cuOne
        CUresult cuOne(long x);
        """
    )
    text = declarations.preprocess("cc", [tmp_path], ["small.h"])
    assert list(declarations.functions(text)) == ["cuOne_v2_ptsz", "cuOne"]
    with pytest.raises(declarations.HeaderError, match=r"missing\.h"):
        declarations.preprocess("cc", [tmp_path], ["missing.h"])


def test_pairing_by_order(pairing: ModuleType) -> None:
    entry_points = pairing.pair(
        ["cuB_v3", "cuB_v3_ptsz", "cuB", "cuA", "cuB_v2"],
        ["cuB_v12000_ptsz", "cuB_v9020", "cuB_v11040", "cuB_v2000", "cuA_v13000"],
    )
    assert entry_points == [
        pairing.EntryPoint("cuA", 13000, "cuA"),
        pairing.EntryPoint("cuB", 2000, "cuB"),
        pairing.EntryPoint("cuB", 9020, "cuB_v2"),
        pairing.EntryPoint("cuB", 11040, "cuB_v3", 12000, "cuB_v3_ptsz"),
    ]


@pytest.mark.parametrize(
    ("symbols", "types", "complaint"),
    [
        (["cuA"], [], "cuA: 1 symbols, 0 typedefs"),
        (["cuA"], ["cuA_v2000", "cuA_v3020"], "cuA: 1 symbols, 2 typedefs"),
        (["cuA"], ["cuA_v2000", "cuB_v2000"], "cuB: 0 symbols, 1 typedefs"),
        (["cuA", "cuA_ptsz"], ["cuA_v2000"], "cuA_ptsz: 1 symbols, 0 typedefs"),
        (["cuA"], ["cuA"], "names no version"),
        (["cuA_v2_ptds"], ["cuA_v2000_ptds"], "flavour of cuA_v2"),
    ],
)
def test_what_does_not_pair_up_is_an_error(
    pairing: ModuleType,
    declarations: ModuleType,
    symbols: list[str],
    types: list[str],
    complaint: str,
) -> None:
    with pytest.raises(declarations.HeaderError, match=complaint):
        pairing.pair(symbols, types)


def test_twins_must_fit_the_headers(
    declarations: ModuleType, rendering: ModuleType, twins: ModuleType
) -> None:
    functions = declarations.functions("CUresult cuNew(int x); CUresult cuOld(int x);")
    assert rendering.with_undeclared(functions, [twins.Twin("cuOld", "cuNew", "why")]) == functions
    forgotten = twins.Twin("cuOlder", "cuNew", "why", declared=False)
    complete = rendering.with_undeclared(functions, [forgotten])
    assert complete["cuOlder"].prototype == "CUresult cuOlder(int x)"
    for wrong in (twins.Twin("cuOld", "cuNo", "why"), twins.Twin("cuNo", "cuNew", "why")):
        with pytest.raises(declarations.HeaderError, match=r"twins\.py"):
            rendering.with_undeclared(functions, [wrong])


def test_error_words(rendering: ModuleType) -> None:
    assert rendering.words("CUDA_ERROR_OUT_OF_MEMORY") == "out of memory"
    assert rendering.words("CUDA_SUCCESS") == "success"


def test_the_export_map_is_anonymous(rendering: ModuleType) -> None:
    lines = rendering.export_map(["cuB", "cuA"]).splitlines()[1:]
    assert [line.strip() for line in lines] == [
        "{", "global:", "cuA;", "cuB;", "local:", "*;", "};",
    ]  # fmt: skip


SMALL_HEADER = """
typedef int CUresult;
typedef int nvmlReturn_t;
enum { CUDA_ERROR_NOT_SUPPORTED = 801, NVML_ERROR_NOT_SUPPORTED = 3 };
CUresult cuAsk(int answer);
CUresult cuAsk_ptsz(int answer);
CUresult cuOld(int answer);
CUresult cuMissing(void);
"""

# cuAsk is the strong definition; it reports its argument and the flavour of the call.
PROGRAM = """
#include <assert.h>
#include "cuda.h"
#include "api/flavour.h"
CUresult cuAsk(int answer) { return answer * 10 + emulator_per_thread_default; }
int main(void) {
    assert(cuAsk(4) == 40);
    assert(cuAsk_ptsz(4) == 41);
    assert(!emulator_per_thread_default);
    assert(cuOld(5) == 50);
    assert(cuMissing() == 801);
    emulator_per_thread_default = 1;
    assert(cuAsk_ptsz(4) == 41 && emulator_per_thread_default);
    return 0;
}
"""


def test_stubs_flavours_and_twins_at_work(
    declarations: ModuleType, rendering: ModuleType, twins: ModuleType, tmp_path: Path
) -> None:
    functions = declarations.functions(SMALL_HEADER)
    guard = "#pragma once\n"
    (tmp_path / "cuda.h").write_text(guard + SMALL_HEADER)
    (tmp_path / "nvml.h").write_text(guard)
    stubs = rendering.cuda_stubs(functions, [twins.Twin("cuOld", "cuAsk", "why")])
    (tmp_path / "stubs.c").write_text(stubs)
    (tmp_path / "program.c").write_text(PROGRAM)

    sources = [tmp_path / "program.c", tmp_path / "stubs.c"]
    sources += [EMULATOR / "unsupported.c", EMULATOR / "say_unsupported.c"]
    sources.append(EMULATOR / "api" / "flavour.c")
    program = tmp_path / "program"
    command = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    command += [f"-I{EMULATOR}", f"-I{HEADERS}"]
    subprocess.run([*command, *map(str, sources), "-o", str(program)], check=True)
    result = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert "cuMissing is not implemented" in result.stderr
