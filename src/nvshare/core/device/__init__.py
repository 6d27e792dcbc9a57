"""One device: takes events, and restores what must hold after each."""
