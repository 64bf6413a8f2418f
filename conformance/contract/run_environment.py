"""What the processes of a run find in their environment about how it was asked for."""

from __future__ import annotations

import os

#: 1 where code may be built in ways that no user has (`--speedups`).
SPEEDUPS = "CONFORMANCE_SPEEDUPS"
#: How many threads an operator uses (`--threads`).
THREADS = "CONFORMANCE_THREADS"
#: Set to anything, every worker is a fresh interpreter and no fork: where a case ends alike, no fork is to blame.
FRESH_WORKERS = "CONFORMANCE_FRESH_WORKERS"
#: Where inductor keeps what it compiles.
CACHE_FOLDER = "TORCHINDUCTOR_CACHE_DIR"
#: Whether somebody has named that folder. Read before torch is imported, which names it itself where nobody has.
CACHE_FOLDER_NAMED = CACHE_FOLDER in os.environ


def speedups_asked() -> bool:
    """Whether this process may build code in faster ways; it may not unless somebody asked for it."""
    return os.environ.get(SPEEDUPS, "") not in ("", "0")


def threads() -> int:
    """Threads of one operator. With more than one, some take kernels whose results have strides of their own."""
    return int(os.environ.get(THREADS, "1"))
