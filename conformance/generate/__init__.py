"""Programs that nobody wrote: straight-line tensor programs, their inputs and call sequences, drawn by Hypothesis.

A sketch (`sketch.py`) is a few small numbers; `source` turns it into the text of a file that ``conformance check``
could read, by trying each statement (`statements.py`) on real tensors and leaving out what does not fit. Every sketch
is therefore a program that runs, and one with fewer and smaller numbers is a shorter program, which is all that
shrinking needs. `one_program.py` runs one on a stack and says how it differs; `campaign.py` is ``conformance explore``.
"""

from __future__ import annotations

from conformance.generate.kept import kept, kept_programs
from conformance.generate.one_program import assert_as_eager
from conformance.generate.sketch import Sketch, sketches, source

__all__ = ["Sketch", "assert_as_eager", "kept", "kept_programs", "sketches", "source"]
