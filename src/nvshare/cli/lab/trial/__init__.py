"""A scenario carried out: real programs, interposer and daemon on an emulated node.

The simulator simulates what a scenario says; here it happens. Both are judged by the same
figures, and the benchmarks hold them against each other.
"""
