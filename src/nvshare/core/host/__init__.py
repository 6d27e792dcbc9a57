"""The host's memory: what may leave the devices, and what has to be refused or to wait."""
