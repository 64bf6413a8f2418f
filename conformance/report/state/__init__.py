"""The state of stacks and of torch: one page of runs and faults, and a page for each unreported bug."""
