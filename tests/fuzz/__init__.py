"""Fuzzing: any bytes at all for every reader of what others write. ``make fuzz`` runs it.

    corpus/NAME    inputs that are kept: examples, and whatever has once gone wrong
    inputs.py      reads them
    seeds.py       inputs that can be made, and so are not kept
    chance.py      the seed of a run
    native.py      the readers in C (native/fuzz), under the sanitizers
    readers.py     the readers in Python, and how they say no
    run.py         make fuzz

``make test`` tries what is kept once (tests/unit/fuzz).
"""
