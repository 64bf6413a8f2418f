"""Defects in the state that a call is made in, and in what a program does to Python."""
