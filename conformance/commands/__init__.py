"""The commands, one function each: the docstring is the help text."""
