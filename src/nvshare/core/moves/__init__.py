"""Memory that moves between the devices and the host: how much, by whose order, how fast."""
