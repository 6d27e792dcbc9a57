"""The daemon: sockets, clocks and processes around nvshare.core. Decides nothing itself."""
