"""The ways of ARCHITECTURE.md: which files a call, an annotation or memory comes through, in order.

The order is recorded (scenes.py, in C by native_calls.py, in Python by python_calls.py), and is in
docs/ways/NAME.calls. NAME.toml has what nobody can record: the title, the names of the lanes, and
for some files why they are on the way. `make reference` records and draws anew. A test records as
well, and compares.
"""
