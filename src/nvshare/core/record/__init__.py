"""What the core knows, as plain data: all of it is in a snapshot, and nothing here decides."""
