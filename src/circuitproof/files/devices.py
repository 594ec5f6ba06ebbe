"""Where torch computes: what may be asked for, and the name of what was chosen. No torch is needed to ask."""

from enum import StrEnum
from typing import NewType


class DeviceChoice(StrEnum):
    """What a user may ask for."""

    AUTO = "auto"
    """The first that is there: cuda, then mps, then cpu."""
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


Device = NewType("Device", str)
"""A device that is there, as torch calls it: `cpu`, `cuda:0`."""
CPU = Device("cpu")


def kind_of(device: Device) -> str:
    """Return what a device is one of.

    >>> kind_of(Device("cuda:1"))
    'cuda'
    """
    return device.partition(":")[0]
