"""Clients: a process on a GPU, from HELLO to its end; its frames, its counters, and its notices.

Frames become the core's events here, and its orders become frames. Nothing is scheduled.
"""
