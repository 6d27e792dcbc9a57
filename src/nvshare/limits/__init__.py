"""Which limits a program can have, and what the kinds of limits have in common.

``table.py`` and ``fields.py`` are generated from protocol/limits.toml. All code that reads, writes,
shows or compares limits uses the table, so that a new limit is one entry there. Limits are enforced
elsewhere.
"""
