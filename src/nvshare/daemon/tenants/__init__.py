"""Tenants: who connects, as the kernel says, and how much of the daemon each of them may take.

What a tenant may take of a GPU is not decided here: groups/ has limits, and the core has turns.
"""
