"""Shares of compute: who computes, for how long, and what each client is told of its share."""
