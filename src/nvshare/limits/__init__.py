"""Which limits a program can have, and what the kinds of limits have in common.

``table.py`` and ``fields.py`` are generated from protocol/limits.toml. Whoever reads, writes, shows
or compares limits goes through the table, so that a new limit is one entry there. What is done
about a limit is somewhere else: where it is obeyed.
"""
