"""The daemon: sockets, clocks and processes around nvshare.core.

Who runs on a GPU, and what is in its memory, is decided by the core alone. The daemon decides what
comes before that: whom it serves, and how much of its own time each may take (tenants/); how much
of a client's word counts (clients/claims.py); and how a program's memory is allocated
(clients/allocation.py).
"""
