"""``kubectl nvshare``: nvshare across a cluster. What one may do is what kubectl may do."""
