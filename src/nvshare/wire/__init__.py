"""Encodes and decodes frames. Knows no sockets and no meaning: see nvshare.daemon."""
