"""Snapshots: the node, its GPUs, clients and groups as users see them at one moment.

They are made here and changed nowhere; api/ serves them.
"""
