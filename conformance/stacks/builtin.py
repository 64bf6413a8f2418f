"""The stacks that torch ships: nothing compiled, Dynamo alone, AOTAutograd, inductor and its variants."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch._inductor import config as inductor_config
from torch._inductor import cpu_vec_isa
from torch._inductor.runtime.cache_dir_utils import cache_dir

from conformance.capture.recorder import Recorder
from conformance.contract.run_environment import speedups_asked
from conformance.stacks.aot_inductor import AotInductorStack
from conformance.stacks.base import ASSUMED, Stack
from conformance.stacks.speedups.linker import choose_linker, faster_linker

#: Every call fits where nothing is compiled; what is said about recompiles is not applicable there.
EAGER = ASSUMED - {"compile", "graph_breaks"} | {"double_backward"}
GENERAL = ASSUMED | {"minifier"}
AOT = GENERAL | {"profiler"}
INDUCTOR = AOT | {"lowered_graph", "layout_optimization", "freezing", "minifier_after_aot", "minifier_aot_inductor"}
FREEZING = {"inductor.freezing": True}
#: Seconds after which nobody is writing a file that is still empty.
ABANDONED = 60.0


class InductorStack(Stack):
    """Inductor, whose C++ compiler is warmed and asked once, so that workers share its headers and its answer."""

    def prepare(self) -> Mapping[str, str]:
        """Finds out which vector instructions work, and compiles a kernel, for which C++ headers are precompiled."""
        _remove_unfinished()
        with inductor_config.patch({"compile_threads": 1}):  # a pool of processes costs more than one kernel
            known = vectors_known()  # first: it is found out by linking, once in a process
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


def _remove_unfinished() -> None:
    """A compiler that was killed leaves an empty library, which inductor's cache would load from then on.

    One that a run beside this one is writing is empty as well, but not for long.
    """
    for library in Path(cache_dir()).glob("*/*.so"):
        with contextlib.suppress(FileNotFoundError):  # removed by a run beside this one
            found = library.stat()
            if found.st_size == 0 and time.time() - found.st_mtime > ABANDONED:
                library.unlink()


def vectors_known() -> dict[str, str]:
    """What saves workers from finding out, one after another behind a lock, that this machine's vectors work.

    Up to torch 2.12 each imports torch in a process of its own for that, some 8 seconds: with 40 workers the last one
    would wait longer than a case may take. Where some of the vectors do not work, the workers find that out themselves.
    """
    found = list(map(str, cpu_vec_isa.valid_vec_isa_list()))
    with inductor_config.patch({"cpp.vec_isa_ok": True}):
        claimed = list(map(str, inspect.unwrap(cpu_vec_isa.valid_vec_isa_list)()))
    return {"TORCHINDUCTOR_VEC_ISA_OK": "1"} if found == claimed else {}


def _warm_up(x: torch.Tensor) -> torch.Tensor:
    return (x + 1).sin()


BUILTIN = (
    Stack("eager", None, EAGER),
    # Runs mutation as it is written: overlap needs no graph of its own.
    Stack("dynamo", "eager", GENERAL - {"overlap_guards"} | {"double_backward"}),
    Stack("aot_eager", "aot_eager", AOT),
    Stack("aot_eager_decomp_partition", "aot_eager_decomp_partition", AOT),
    InductorStack("inductor", "inductor", INDUCTOR, area_config={"freezing": FREEZING}),
    InductorStack("inductor_freezing", "inductor", INDUCTOR, config=FREEZING, shares_failures_of="inductor"),
    InductorStack(
        "inductor_cpp_wrapper",
        "inductor",
        INDUCTOR,
        config={"inductor.cpp_wrapper": True},
        area_config={"freezing": FREEZING},
        shares_failures_of="inductor",
    ),
    AotInductorStack(
        "aot_inductor",
        "inductor",
        frozenset({"compile", "dynamic_shapes", "lowered_graph", "layout_optimization", "freezing"}),
        area_config={"freezing": FREEZING},
        captured_by_dynamo=False,
    ),
)
