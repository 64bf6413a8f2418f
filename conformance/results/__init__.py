"""The result file and its schema, sets of them, known failures."""
