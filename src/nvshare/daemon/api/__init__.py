"""The API for users: HTTP and JSON on Unix sockets, and metrics over TCP.

Every request becomes a snapshot or a call of the node; programs speak frames, with clients/.
"""
