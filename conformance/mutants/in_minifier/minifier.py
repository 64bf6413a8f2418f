"""Mutants of what the minifier does: when it writes a launcher, what it tries, what it takes for a failure."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo.config
from torch import fx
from torch._dynamo import debug_utils
from torch._dynamo.repro import after_aot, after_dynamo, aoti

from conformance.mutants.base import in_steps, replacing


@in_steps("minifier.after_dynamo.reproduces")
def launcher_not_written() -> None:
    """A failure after Dynamo is raised and leaves no launcher."""

    @replacing(after_dynamo, "dump_to_minify_after_dynamo")
    def dump(own: Any, *args: Any) -> None:
        pass


@in_steps("minifier.after_dynamo.silent_without_failure", "minifier.own_backend.silent_without_failure")
def launcher_written_always() -> None:
    """A launcher is written for every graph, whether it fails or not."""

    @replacing(after_dynamo.WrapBackendDebug, "__call__")
    def compile(own: Any, self: Any, graph: fx.GraphModule, inputs: list[Any], **options: Any) -> Any:
        after_dynamo.dump_to_minify_after_dynamo(graph, inputs, self._compiler_name)
        return own(self, graph, inputs, **options)


@in_steps("minifier.crash.launcher_remains")
def launcher_written_too_late() -> None:
    """At level 3, too, the launcher is written when the program has failed."""

    @replacing(after_dynamo.WrapBackendDebug, "__call__")
    def compile(own: Any, *args: Any, **options: Any) -> Any:
        with torch._dynamo.config.patch(repro_level=min(torch._dynamo.config.repro_level, 2)):
            return own(*args, **options)


@in_steps("minifier.after_dynamo.minimal", "minifier.aot_inductor.reproduces", base="inductor")
def graph_not_shrunk() -> None:
    """The repro holds the whole graph; nothing smaller is tried."""
    import functorch.compile  # type: ignore[import-untyped]

    @replacing(functorch.compile, "minifier")
    def minifier(own: Any, graph: Any, inputs: Any, module_fails: Any, dump_state: Any, **options: Any) -> None:
        dump_state(graph, inputs)


@in_steps("minifier.after_aot.isolated_queries", base="inductor")
def every_query_fails() -> None:
    """A query in a process of its own is taken for a failure whatever its exit status."""

    @replacing(after_aot, "isolate_fails")
    def fails(own: Any, *args: Any, **options: Any) -> bool:
        return True


@in_steps("minifier.crash.isolated_crash", base="inductor")
def queries_never_isolated() -> None:
    """Queries run in the process of the launcher, isolation wanted or not."""

    @replacing(after_aot, "repro_minify")
    def minify(own: Any, options: Any, *more: Any) -> None:
        options.isolate = False
        own(options, *more)


@in_steps("minifier.after_aot.offload_to_disk", base="inductor")
def offloading_to_nowhere() -> None:
    """Intermediates are offloaded into a folder that cannot exist."""
    import functorch.compile

    @replacing(functorch.compile, "minifier")
    def minifier(own: Any, *args: Any, **options: Any) -> Any:
        return own(*args, **{**options, "save_dir": f"{os.devnull}/intermediates"})


@in_steps("minifier.accuracy.more_precise_than_eager", base="inductor")
def reference_never_used() -> None:
    """Results are compared with eager's own, without the float64 reference."""
    torch._dynamo.config.same_two_models_use_fp64 = False


def _compare(function: Callable[..., bool]) -> None:
    """Let a function that gets the comparison of two models first be called in its place."""
    for module in (debug_utils, after_dynamo, after_aot):
        replacing(module, "same_two_models")(function)


@in_steps("minifier.accuracy.strict_comparison", base="inductor")
def reference_always_used() -> None:
    """Results are compared with the float64 reference although the configuration says not to."""

    @_compare
    def same(own: Callable[..., bool], *args: Any, **options: Any) -> bool:
        with torch._dynamo.config.patch(same_two_models_use_fp64=True):
            return own(*args, **options)


@in_steps("minifier.after_dynamo.reproduces", "minifier.accuracy.lost_writes")
def results_not_compared() -> None:
    """Whatever a compiled program computes is taken for right."""

    @_compare
    def same(own: Callable[..., bool], *args: Any, **options: Any) -> bool:
        return True


@in_steps("minifier.accuracy.floating_point_divergence", base="inductor")
def every_difference_followed() -> None:
    """Accuracy minification follows differences of any dtype, as strict accuracy does."""
    after_aot.ACCURACY_FAILS["accuracy"] = after_aot.ACCURACY_FAILS["strict_accuracy"]


@in_steps("minifier.accuracy.strict_divergence", base="inductor")
def only_floats_followed() -> None:
    """Strict accuracy minification follows what differs as a floating-point number only."""
    after_aot.ACCURACY_FAILS["strict_accuracy"] = after_aot.ACCURACY_FAILS["accuracy"]


@in_steps("minifier.aot_inductor.nested_inputs", base="inductor")
def keyword_inputs_dropped() -> None:
    """The launcher runs an exported program without its keyword inputs."""

    @replacing(aoti, "repro_common")
    def read(own: Any, *args: Any) -> tuple[Any, Any, Any]:
        module, inputs, _ = own(*args)
        return module, inputs, {}
