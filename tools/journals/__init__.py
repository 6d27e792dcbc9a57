"""Journals of whole runs: what the core ordered, kept so that a change of its code can be judged.

    python -m tools.journals record FOLDER [NAME…] [--tree CHECKOUT]
    python -m tools.journals compare FOLDER [NAME…]

``record`` runs what courses.py names, in this checkout or in another one, and writes down every
event that a core was told and every effect that it returned. ``compare`` tells the same events to
the present core. It shows each first difference of a history, and fails if there is one.

Some tests change a core by hand, and so their histories cannot be told again. They differ on the
recorded commit as well: compare there first.

The journals are large, and are kept outside git. They can be made again from any commit: check it
out, run `make build` there, and name it with ``--tree``. Only the events, the effects and
``Core.handle`` have to be the same in both checkouts.
"""
