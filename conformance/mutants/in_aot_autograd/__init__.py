"""Defects in AOTAutograd: what a backward needs and is given."""
