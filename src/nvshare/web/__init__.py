"""The web page: snapshots of one node or of a cluster, as a browser shows them (docs/web.md).

It knows nothing of the daemon but its snapshots. Whoever starts it hands in a source of them, and
it has the rights of that process, no more: it is not part of the daemon.
"""
