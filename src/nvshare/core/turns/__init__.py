"""Turns: how long they last, and how clients give them up."""
