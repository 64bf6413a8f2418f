"""What a stack may declare and a case may need."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: The sentence says what a stack that declares it can do.
CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "compile": "compiles programs, so that graphs, recompiles and graph breaks exist to be asserted",
        "training": "runs the backward of a compiled program",
        "input_mutation": "compiles programs that mutate their inputs",
        "module_state": "computes with the parameters and buffers of the module itself, and writes to those",
        "python_objects": "takes, changes and returns Python objects as the program does, in every call",
        "dynamic_shapes": "compiles one graph for several sizes",
        "recompiles": "serves every call: compiles again where one does not fit what was compiled, and says why",
        "graph_breaks": "continues in Python where a program cannot be captured, and says where",
        "lowered_graph": "shows the last graph before its code is generated",
        "freezing": "turns parameters into constants and folds them",
        "layout_optimization": "changes the layout of tensors inside a graph",
        "minifier": "can be debugged with the minifier after Dynamo",
        "minifier_after_aot": "can be debugged with the minifier after AOTAutograd",
        "minifier_aot_inductor": "can be debugged with the minifier of AOTInductor",
        "double_backward": "differentiates the backward of a compiled program",
        "profiler": "traces the backward through autograd, so that the profiler sees the numbers of its functions",
    }
)
#: How the reason begins for a capability that no program can find out, so that a description has to name it.
NOT_DECLARED = "not declared"


class UnknownCapability(ValueError):
    """A capability that is not in `CAPABILITIES`."""
