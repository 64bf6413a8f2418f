"""Stand-alone scripts of runs: how they are put together, what runs in them, and whether they show the difference."""
