"""From how a case ended to its outcome: ledgers, blame, the result."""
