"""As in a container of a node: in a cgroup namespace, with the node's cgroups mounted read-only.

    containing.py VERSION HIERARCHY FOLDER PID…

Prints, for each process, where its cgroup is and the limits on it, one JSON object per line.
"""

import json
import subprocess
import sys
from pathlib import Path

from nvshare.daemon.host.cgroup import MemoryGroups
from nvshare.daemon.host.hierarchy import MemoryHierarchy

version, hierarchy, folder, *pids = sys.argv[1:]
own, node, proc = (Path(folder) / name for name in ("own", "node", "proc"))
for made in (own, node, proc / "self"):
    made.mkdir(parents=True)
kind = ["-t", "cgroup2"] if version == "2" else ["-t", "cgroup", "-o", "memory"]
for what in (
    [*kind, "none", str(own)],
    ["--bind", hierarchy, str(node)],
    ["-o", "remount,bind,ro", str(node)],
):
    subprocess.run(["/bin/mount", *what], check=True)
# All as the kernel shows it to this namespace, without version 1 where version 2 is tested.
(proc / "self" / "mountinfo").write_text(Path("/proc/self/mountinfo").read_text())
for pid in pids:
    lines = Path("/proc", pid, "cgroup").read_text().splitlines()
    kept = [line for line in lines if version == "1" or line.startswith("0::")]
    (proc / pid).mkdir()
    (proc / pid / "cgroup").write_text("\n".join(kept))
    seen = MemoryHierarchy(proc, node)
    place = seen.find(int(pid))
    found = str(place.folder.relative_to(node)) if place else None
    limits = [group.limit for group in MemoryGroups(seen)([int(pid)])[int(pid)]]
    print(json.dumps([kept, found, limits]))
