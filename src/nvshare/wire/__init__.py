"""Bytes on the wire to frames and back. No sockets here, and no meaning: see nvshare.daemon."""
