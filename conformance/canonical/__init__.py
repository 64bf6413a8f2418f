"""Canonical text: graphs, operators, exceptions, and the inline expectations that compare it."""
