"""``nvshare emulate``: emulated GPU nodes. One verb per file; ``-- COMMAND`` is run.py."""

from nvshare.cli.lab.emulate import down, env, fault, ls, profile, profiles, smi, up
from nvshare.cli.lab.emulate.run import emulate

emulate.add_command(profile.profile)
for verb in (up.up, down.down, fault.fault, fault.heal, smi.smi, ls.ls, env.env, profiles.profiles):
    emulate.add_command(verb)

__all__ = ["emulate"]
