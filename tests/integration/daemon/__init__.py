"""The real daemon, in a process of its own, and clients that speak its protocol from Python."""
