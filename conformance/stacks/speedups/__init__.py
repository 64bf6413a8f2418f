"""What only speeds a run up, and is asked for."""
