"""The simulator: the scheduling core in virtual time, on the GPU profiles of the emulator.

It simulates hours of a cluster in seconds. Nothing here waits. The core decides which programs run.
"""
