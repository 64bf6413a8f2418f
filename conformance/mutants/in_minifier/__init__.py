"""Defects in the minifier and in the scripts that it writes."""
