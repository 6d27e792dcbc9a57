"""The simulator: the scheduling core in virtual time, on the GPU profiles of the emulator.

Hours of a cluster in seconds. Nothing here waits, and nothing here decides who runs: the core does.
"""
