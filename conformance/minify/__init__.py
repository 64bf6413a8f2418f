"""The minifier, end to end: failing program, launcher and repro, each in a process of its own."""

from conformance.minify.minifier_run import MinifierFailure, MinifierRun, Reason, Step
from conformance.minify.steps import MinifiableStack, minify

__all__ = ["MinifiableStack", "MinifierFailure", "MinifierRun", "Reason", "Step", "minify"]
