"""A pytest run of the suite: options, workers, outcomes, the results folder."""
