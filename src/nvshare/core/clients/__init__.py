"""The table of a device's clients: their states, the sums over them, and which fit together."""
