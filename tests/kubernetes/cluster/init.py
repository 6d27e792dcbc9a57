"""The first process of the namespaces that a cluster lives in. Starts pytest, and reaps orphans.

When it ends, the kernel ends all remaining processes in them, and unmounts everything.
"""

import os
import subprocess
import sys
from pathlib import Path

# Folders that a node would fill. Their contents are not seen outside.
_FRESH = ("/run", "/var/lib", "/var/log")
# Settings that kubelet would change for the whole machine. Here its changes have no effect outside.
_SYSCTLS = ("kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "vm/panic_on_oom")


def main() -> int:
    """Run the tests; return their exit code."""
    for folder in _FRESH:
        subprocess.run(["/bin/mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    for name in _SYSCTLS:
        real, pretended = Path("/proc/sys", name), Path("/run", name.replace("/", "."))
        pretended.write_text(real.read_text())
        subprocess.run(["/bin/mount", "--bind", pretended, real], check=True)
    # Volumes of pods are passed on to containers, as on a machine that systemd has set up.
    subprocess.run(["/bin/mount", "--make-rshared", "/"], check=True)
    # For tests without a cluster, too.
    subprocess.run(["/sbin/ip", "link", "set", "lo", "up"], check=True)
    tests = subprocess.Popen([sys.executable, "-m", "pytest", *sys.argv[1:]])
    while True:
        pid, status = os.wait()
        if pid == tests.pid:
            return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
