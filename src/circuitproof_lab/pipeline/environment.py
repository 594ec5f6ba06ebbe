"""What a run records about the machine and the programs it began with; its device stands in `run.json`."""

import platform

import torch

from circuitproof.version import __version__
from circuitproof_lab.records.environment import Environment


def environment() -> Environment:
    """Return the environment of this process."""
    return Environment(
        circuitproof=__version__,
        python=platform.python_version(),
        torch=torch.__version__,
        kernels=torch.backends.cpu.get_cpu_capability(),
        threads=torch.get_num_threads(),
        machine=platform.machine(),
        system=platform.system(),
    )
