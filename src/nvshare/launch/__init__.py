"""Starting programs under nvshare, and finding the daemon that they belong to."""
