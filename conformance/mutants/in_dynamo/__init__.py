"""Defects in Dynamo: its guards, and the graph that it hands to a backend."""
