"""The host's memory: how much of it there is, what cgroups allow, and the extents made of it.

How much each program is to have of it is decided by the core.
"""
