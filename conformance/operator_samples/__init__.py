"""Every operator that torch itself lists, on the inputs that torch itself gives it.

Torch's operator database is in every wheel. Its inputs are made in a process of their own (`database.py`) and kept for
each torch release (`store.py`); a case takes the samples of a few operators, in one of several forms (`forms.py`), as
one program (`trial.py`), so that a stack compiles once.
"""

from conformance.operator_samples.rows import operators
from conformance.operator_samples.trial import assert_refused_as_eager, assert_samples_as_eager

__all__ = ["assert_refused_as_eager", "assert_samples_as_eager", "operators"]
