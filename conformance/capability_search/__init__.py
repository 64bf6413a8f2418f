"""Finds out what a stack can do, by short programs in child processes."""
