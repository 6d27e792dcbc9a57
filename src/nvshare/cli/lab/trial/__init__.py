"""Runs a scenario with real programs, interposer and daemon on an emulated node.

The simulator only simulates the scenario. Both yield the same figures, and the benchmarks compare
them.
"""
