"""Defects in inductor: what it folds, what it takes for a constant, which layouts it decides on."""
