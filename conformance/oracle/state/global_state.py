"""Global state that a program can touch: grad mode, autocast, defaults, generators; read and put back."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

GLOBAL_STATE: dict[str, Callable[[], Any]] = {
    "grad_mode": torch.is_grad_enabled,
    "inference_mode": torch.is_inference_mode_enabled,
    "autocast_cpu": lambda: (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
    "autocast_cuda": lambda: (torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")),
    "default_dtype": torch.get_default_dtype,
    "default_device": lambda: str(torch.get_default_device()),
    "deterministic": torch.are_deterministic_algorithms_enabled,
    "float32_matmul_precision": torch.get_float32_matmul_precision,
    "anomaly_mode": torch.is_anomaly_enabled,
    "saved_tensors_hooks": lambda: torch._C._autograd._top_saved_tensors_default_hooks(True) is not None,
}


def generator_states(device: str) -> dict[str, Any]:
    """The states of every generator that a program may draw from, each comparable with ``==``."""
    states: dict[str, Any] = {"cpu": torch.get_rng_state().numpy().tobytes(), "python": random.getstate()}
    if device.startswith("cuda"):
        states["cuda"] = torch.cuda.get_rng_state(device).numpy().tobytes()
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        states["numpy"] = (name, keys.tobytes(), *rest)
    return states


@contextmanager
def defined_memory() -> Iterator[None]:
    """Fill memory that is allocated and not written (``torch.empty``, gaps between strides) alike on every side."""
    before = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


@contextmanager
def global_state_restored() -> Iterator[None]:
    """Restore what a side leaves changed (grad mode, default dtype, ...)."""
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    deterministic, precision = torch.get_deterministic_debug_mode(), torch.get_float32_matmul_precision()
    autocast = {kind: (torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")}
    random_state, generators = random.getstate(), torch.get_rng_state()
    drawn = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
    anomaly = torch.is_anomaly_enabled()
    device = torch.get_default_device()
    # cuDNN picks TF32 by layout: results would differ by the algorithm chosen, in eager as well.
    tf32, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = tf32
        torch._C._set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        torch.set_deterministic_debug_mode(deterministic)
        torch.set_float32_matmul_precision(precision)
        for kind, (enabled, autocast_dtype) in autocast.items():
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, autocast_dtype)
        torch.autograd.set_detect_anomaly(anomaly)
        if torch.get_default_device() != device:
            torch.set_default_device(device)
        random.setstate(random_state)
        torch.set_rng_state(generators)
        if drawn is not None:
            sys.modules["numpy"].random.set_state(drawn)


#: Modes that are never left, since leaving one brings back what was in force before it.
_entered: list[Any] = []


@contextmanager
def dispatch_restored() -> Iterator[None]:
    """Inference mode and the dispatch keys end with a side, where something entered inference mode and then raised.

    What entered it puts back the keys of its own time when it is collected, in the middle of any later program. It has
    to be gone before the keys are put right; torch sets both by entering a mode, and in no other way.
    """
    inference, keys = torch.is_inference_mode_enabled(), _dispatch_keys()
    try:
        yield
    finally:
        if torch.is_inference_mode_enabled() != inference:
            _enter_for_good(torch.inference_mode(inference))
            gc.collect()
        if [key_set.raw_repr() for key_set in _dispatch_keys()] != [key_set.raw_repr() for key_set in keys]:
            _enter_for_good(torch._C._ForceDispatchKeyGuard(*keys))


def _dispatch_keys() -> tuple[Any, Any]:
    """The keys that are included and excluded on this thread."""
    return torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()


def _enter_for_good(mode: Any) -> None:
    _entered.append(mode)
    mode.__enter__()
