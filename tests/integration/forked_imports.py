"""What daemons need, imported once in the process that they are forked from (forked.py)."""

import gc

import nvshare.cli.daemon
import nvshare.daemon.main
import tests.integration.forked

__all__ = ["nvshare", "tests"]

# The collector writes to the objects that it visits; without it they stay shared.
gc.freeze()
