"""numba-cuda describes the machine. Its UUIDs are new on every node, so they are not shown."""

import contextlib
import io

from numba import cuda

with contextlib.redirect_stdout(io.StringIO()) as description:
    found = cuda.detect()
for line in description.getvalue().splitlines():
    if "UUID" not in line:
        print(line.rstrip())
print("found:", found)
