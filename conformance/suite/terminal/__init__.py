"""What a run shows while it goes on, and what of pytest's own output it leaves out because its findings say it."""
