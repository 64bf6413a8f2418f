"""Defects around the compiled callable: what goes in, what comes out, what is left behind."""
