"""The record of an environment: what the bits of a training and the times of a machine depend on."""

from dataclasses import dataclass

from circuitproof.files.codec import PositiveInt

ENVIRONMENT = "environment.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The programs and kernels that a run began with."""

    circuitproof: str
    python: str
    torch: str
    kernels: str
    """Which instructions torch computes with."""
    threads: PositiveInt
    machine: str
    system: str

    def __str__(self) -> str:
        kernels = f"{self.kernels} kernels, threads: {self.threads}"
        return f"torch {self.torch}, {kernels}, Python {self.python}"
