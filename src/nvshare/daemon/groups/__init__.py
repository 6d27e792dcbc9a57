"""Groups: which processes belong together, the limits that they share, and how users name them.

What a limit means for turns and memory is up to the core, and to the library in each process.
"""
