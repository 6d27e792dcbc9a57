"""``kubectl nvshare``: nvshare across a cluster, with the permissions that kubectl has."""
