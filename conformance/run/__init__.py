"""A program on a stack: both sides, the assertions of a case, the ladder, scripts."""
