"""What the daemon tells about itself, as values."""
