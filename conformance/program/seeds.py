"""The seeds that every side of a comparison starts from."""

from __future__ import annotations

import random
import sys

import torch

SEED = 0


def seed_torch(seed: int) -> None:
    """What `torch.manual_seed` does, short of the stack trace that it keeps for each kind of device that is absent."""
    if torch.accelerator.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def seed_everything(seed: int) -> None:
    random.seed(seed)
    seed_torch(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
