"""Makes a release: all published files, in dist/, each step in a file of its own.

    python -m tools.release [STEP…]

Nothing is published, tagged or pushed here.
"""
