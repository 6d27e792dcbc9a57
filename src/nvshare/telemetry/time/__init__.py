"""What the time of clients went to, from what the core did. For people; no decision uses it."""
