"""The journal of a node: events and effects, kept, saved and read."""
