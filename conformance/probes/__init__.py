"""What one or two cases ask of a run, each a probe for ``Program(probes=...)``."""

from conformance.probes.backward_marks import BackwardMarks
from conformance.probes.exporters import ExportedBy
from conformance.probes.joint_export import JointExport
from conformance.probes.pieces import CutBefore
from conformance.probes.profiler import Profiler
from conformance.probes.within import Unwatched, Within

__all__ = ["BackwardMarks", "CutBefore", "ExportedBy", "JointExport", "Profiler", "Unwatched", "Within"]
