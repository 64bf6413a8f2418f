"""Run one side, take snapshots of all that a caller can see, compare."""
