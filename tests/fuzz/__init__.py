"""Fuzzing: arbitrary bytes for every reader of foreign input. ``make fuzz`` runs it.

    corpus/NAME    inputs that are kept: examples, and past failures
    inputs.py      reads them
    seeds.py       inputs that can be made, and so are not kept
    chance.py      the seed of a run
    native.py      the readers in C (native/fuzz), under the sanitizers
    readers.py     the readers in Python, and how they refuse input
    run.py         make fuzz

``make test`` tries the kept inputs once (tests/unit/fuzz).
"""
