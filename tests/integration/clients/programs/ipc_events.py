"""Events that two processes share."""

import ctypes
import subprocess
import sys

from checked import begin, failure, ok
from cuda.bindings import driver as cu
from named import Kernels

HANDLE_SIZE = 64
FLAGS = 4 | 2  # interprocess, without a time
LONG_US = 20_000


def child() -> None:
    """Wait for the parent's work, and let the parent wait for ours."""
    begin()
    kernels = Kernels()
    handle = cu.CUipcEventHandle()
    ctypes.memmove(handle.getPtr(), bytes.fromhex(sys.stdin.readline()), HANDLE_SIZE)
    event = ok(cu.cuIpcOpenEventHandle(handle))
    print("child: before the parent is done:", failure(cu.cuEventQuery(event)), flush=True)
    stream = ok(cu.cuStreamCreate(1))
    ok(cu.cuStreamWaitEvent(stream, event, 0))
    ok(cu.cuStreamSynchronize(stream))
    print("child: and after:", failure(cu.cuEventQuery(event)), flush=True)
    print("child: passes it on:", failure(cu.cuIpcGetEventHandle(event)))
    kernels.launch("spin", LONG_US, stream=stream)
    ok(cu.cuEventRecord(event, stream))
    print("child: has recorded", flush=True)
    sys.stdin.readline()
    ok(cu.cuEventDestroy(event))


def parent() -> None:
    """Share an event with a child."""
    begin()
    print("with a time:", failure(cu.cuEventCreate(4)))
    plain = ok(cu.cuEventCreate(2))
    print("an event of one process:", failure(cu.cuIpcGetEventHandle(plain)))
    event = ok(cu.cuEventCreate(FLAGS))
    handle = ok(cu.cuIpcGetEventHandle(event))
    print("opens its own:", failure(cu.cuIpcOpenEventHandle(handle)))
    print("never recorded:", failure(cu.cuEventQuery(event)))
    other = subprocess.Popen(
        [sys.executable, __file__, "child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin
    assert other.stdout
    # The event waits for a word that is set when the child has checked the event.
    word = ctypes.c_uint32.from_address(ok(cu.cuMemHostAlloc(4, 2)))
    word.value = 0
    stream = ok(cu.cuStreamCreate(1))
    equal = cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ
    ok(cu.cuStreamWaitValue32(stream, ctypes.addressof(word), 1, equal))
    ok(cu.cuEventRecord(event, stream))
    other.stdin.write(ctypes.string_at(handle.getPtr(), HANDLE_SIZE).hex() + "\n")
    other.stdin.flush()
    for line in other.stdout:
        print(line, end="")
        word.value = 1
        if "has recorded" in line:
            break
    ok(cu.cuEventSynchronize(event))
    print("parent: waited for the child:", failure(cu.cuEventQuery(event)))
    other.stdin.write("done\n")
    other.stdin.flush()
    other.wait(60)
    ok(cu.cuEventDestroy(event))


child() if sys.argv[1:] else parent()
