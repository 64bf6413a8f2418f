"""Stand-alone scripts of cases: on demand, and of cases that ended the process."""
