"""The stacks that torch ships: nothing compiled, Dynamo alone, AOTAutograd, inductor and its variants."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.compilers import nop
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition
from torch._inductor import config as inductor_config
from torch._inductor import cpu_vec_isa, list_mode_options
from torch._inductor.cudagraph_trees import reset_cudagraph_trees
from torch._inductor.runtime.cache_dir_utils import cache_dir

from conformance.capture.recorder import Recorder
from conformance.contract.ladder import CORE_DECOMPOSITIONS, DEFAULT_PARTITION
from conformance.contract.run_environment import speedups_asked
from conformance.stacks.aot_inductor import AotInductorStack
from conformance.stacks.base import ASSUMED, Stack
from conformance.stacks.speedups.linker import choose_linker, faster_linker

#: Every call fits where nothing is compiled; what is said about recompiles is not applicable there.
EAGER = ASSUMED - {"compile", "graph_breaks"} | {"double_backward"}
GENERAL = ASSUMED | {"minifier"}
#: Torch's own behind AOTAutograd.
AOT = GENERAL | {"profiler"}
INDUCTOR = AOT | {"lowered_graph", "layout_optimization", "freezing", "minifier_after_aot", "minifier_aot_inductor"}
FREEZING = {"inductor.freezing": True}
#: Inductor as ``torch.compile(mode=...)`` sets it up, by the name of the stack; they differ from it on a GPU.
MODES = {"inductor_reduce_overhead": "reduce-overhead", "inductor_max_autotune": "max-autotune-no-cudagraphs"}
#: Set to 1, inductor need not check that this machine's SIMD instruction sets work.
SIMD_WORKS = "TORCHINDUCTOR_VEC_ISA_OK"
#: Seconds after which an empty file is abandoned, not being written.
ABANDONED = 60.0


class InductorStack(Stack):
    """Inductor; one process precompiles headers and checks SIMD support, so that workers need not."""

    def prepare(self, devices: Collection[str]) -> Mapping[str, str]:
        """Finds out which vector instructions work, and compiles a kernel, for which C++ headers are precompiled."""
        if "cpu" not in devices:  # few cases compile C++ then, and these need not check the instructions, for a minute
            return {SIMD_WORKS: "1"} if speedups_asked() else {}
        _remove_unfinished()
        with inductor_config.patch({"compile_threads": 1}):  # a pool of processes costs more than one kernel
            known = simd_checked()  # first: inductor checks it by linking, once in a process
            if speedups_asked():
                with super().running({}, Recorder()):
                    choose_linker(self._link)
            with self.running({}, Recorder()):
                self.compile(_warm_up, Recorder())(torch.ones(8))
        return known

    def _link(self) -> None:
        """Run a kernel that no cache has, so that something is linked; inductor keeps failures, too."""
        factor = time.time()
        self.compile(lambda x: (x * factor).sin(), Recorder())(torch.ones(8))

    @contextlib.contextmanager
    def running(self, config: Mapping[str, Any], recorder: Recorder) -> Iterator[None]:
        with faster_linker() if speedups_asked() else contextlib.nullcontext(), super().running(config, recorder):
            yield
        if self.config.get("inductor.triton.cudagraphs"):  # as torch's own wrapper of this mode does at a reset
            reset_cudagraph_trees()


def _remove_unfinished() -> None:
    """Remove the empty libraries of compilers that were killed: inductor's cache would load them.

    A library that another run is writing is empty as well, but not for long.
    """
    for library in Path(cache_dir()).glob("*/*.so"):
        with contextlib.suppress(FileNotFoundError):  # removed by a run beside this one
            found = library.stat()
            if found.st_size == 0 and time.time() - found.st_mtime > ABANDONED:
                library.unlink()


def simd_checked() -> dict[str, str]:
    """The environment in which workers need not check this machine's SIMD instruction sets, one after another.

    Inductor checks each by compiling behind a lock; up to torch 2.12 every worker also imports torch in a new process
    for that, some 8 seconds: with 40 workers the last one would wait longer than a case may take. Where an instruction
    set does not work, the environment is empty and each worker checks.
    """
    found = list(map(str, cpu_vec_isa.valid_vec_isa_list()))
    with inductor_config.patch({"cpp.vec_isa_ok": True}):
        claimed = list(map(str, inspect.unwrap(cpu_vec_isa.valid_vec_isa_list)()))
    return {SIMD_WORKS: "1"} if found == claimed else {}


def heed_environment() -> None:
    """In a fork of a process that imported inductor earlier: read again what inductor reads when it is imported."""
    if os.environ.get(SIMD_WORKS) == "1":
        inductor_config.cpp.vec_isa_ok = True
    inductor_config.compile_threads = inductor_config.decide_compile_threads()


def _warm_up(x: torch.Tensor) -> torch.Tensor:
    return (x + 1).sin()


def _mode(name: str) -> dict[str, Any]:
    """What ``torch.compile(mode=name)`` sets of inductor's config."""
    return {f"inductor.{key}": value for key, value in list_mode_options(name).items()}


BUILTIN = (
    Stack("eager", None, EAGER),
    # Runs mutation as it is written: overlap needs no graph of its own, so that it is not exact.
    Stack("dynamo", "eager", GENERAL | {"double_backward"}),
    Stack("aot_eager", "aot_eager", AOT, exact=True),
    Stack("aot_eager_decomp_partition", "aot_eager_decomp_partition", AOT, exact=True),
    Stack(
        DEFAULT_PARTITION,
        aot_autograd(fw_compiler=nop, bw_compiler=nop, partition_fn=default_partition),
        ASSUMED | {"profiler"},
        exact=True,
    ),
    Stack(
        CORE_DECOMPOSITIONS,
        aot_autograd(
            fw_compiler=nop,
            bw_compiler=nop,
            decompositions=functools.cache(core_aten_decompositions),  # made at the first compilation
            partition_fn=min_cut_rematerialization_partition,
        ),
        ASSUMED | {"profiler"},
        exact=True,
    ),
    InductorStack("inductor", "inductor", INDUCTOR, area_config={"freezing": FREEZING}, exact=True),
    InductorStack(
        "inductor_freezing", "inductor", INDUCTOR, config=FREEZING, shares_failures_of="inductor", exact=True
    ),
    InductorStack(
        "inductor_cpp_wrapper",
        "inductor",
        INDUCTOR,
        config={"inductor.cpp_wrapper": True},
        area_config={"freezing": FREEZING},
        shares_failures_of="inductor",
        exact=True,
    ),
    *(
        InductorStack(
            name,
            "inductor",
            INDUCTOR,
            config=_mode(mode),
            area_config={"freezing": FREEZING},
            shares_failures_of="inductor",
            exact=True,
        )
        for name, mode in MODES.items()
    ),
    # Replays the kernels of a GPU; on the CPU it runs the graph as AOTAutograd makes it. Not exact: it has no ledger.
    Stack("cudagraphs", "cudagraphs", AOT),
    AotInductorStack(
        "aot_inductor",
        "inductor",
        frozenset({"compile", "dynamic_shapes", "lowered_graph", "layout_optimization", "freezing"}),
        area_config={"freezing": FREEZING},
        captured_by_dynamo=False,
        exact=True,
    ),
)
