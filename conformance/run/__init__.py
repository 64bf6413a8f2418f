"""A program on a stack: both sides, the assertions of a case, texts, and what torch's ladder does likewise."""
