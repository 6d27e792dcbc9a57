"""The verbs of the laboratory: emulate, simulate, workload, demo and bench."""
