"""The command line: one verb per file. Reads arguments and prints; the work is done elsewhere."""
