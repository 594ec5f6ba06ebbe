"""Randomness that follows from a seed, alike on every machine."""

import torch

from circuitproof.files.canonical import digest_bytes
from circuitproof.files.devices import CPU


def generator_of(seed: int, count: int) -> torch.Generator:
    """Return the randomness of one step or epoch, for draws in main memory.

    Torch seeds with 32 bits, so both numbers go into those.
    """
    return torch.Generator(CPU).manual_seed(int(str(digest_bytes(f"{seed} {count}".encode()))[:8], 16))
