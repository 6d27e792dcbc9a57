"""Documentation that is checked and, in part, written by a program."""
