"""The web page: snapshots of one node or of a cluster, as a browser shows them (docs/web.md).

It knows only snapshots of the daemon, from a source that its caller passes in. It has the rights of
its own process and no more: it is not part of the daemon.
"""
