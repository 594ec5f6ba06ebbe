"""How code for GPUs is tested without one: a device that has no values, and one that must be named."""

import sys
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from circuitproof.files.devices import Device

META = Device("meta")
"""Torch's device of tensors that have a shape and no numbers."""
FACTORIES = frozenset(
    (
        *("arange", "as_tensor", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn"),
        *("randperm", "scalar_tensor", "tensor", "zeros"),
    )
)
"""What makes a tensor out of none, and puts it into main memory unless a device is named."""
_MAKERS = {getattr(torch, name) for name in FACTORIES}
_ATEN = torch.ops.aten
_CROSSING = (_ATEN._to_copy.default, _ATEN.copy_.default)


class MixedDevicesError(AssertionError):
    """Tensors of two devices met: what a GPU refuses."""


class Elsewhere(TorchDispatchMode):
    """Lets the meta device stand for one that is not the processor.

    Alone, meta is too lenient: it multiplies matrices with such that are elsewhere, and indexes by them. Here
    an operation on tensors of two devices raises, but for copying from one to the other. And alone, meta
    cannot be read; here every number that is brought back is the same one, and a mask chooses all.
    """

    def __init__(self, number: int = 1, *, in_doubles: bool = True) -> None:
        super().__init__()
        self.number, self.in_doubles = number, in_doubles
        """What is read, and whether the device has FP64."""
        self.calls = 0
        """How many operations were on it."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = self._answered(func, args, kwargs or {})
        for tensor in _tensors(found):
            self.calls += tensor.is_meta
            if tensor.is_meta and tensor.dtype == torch.float64 and not self.in_doubles:
                raise MixedDevicesError(f"{func} gives FP64, which the device does not have")
        return found

    def _answered(self, func, args, kwargs):
        devices = {tensor.device.type for tensor in _tensors((args, kwargs))}
        if len(devices) > 1 and func not in _CROSSING:
            raise MixedDevicesError(f"{func} is on {' and '.join(sorted(devices))}")
        if "meta" not in devices:
            return func(*args, **kwargs)
        if func is _ATEN._local_scalar_dense.default:
            return torch.full((), self.number, dtype=args[0].dtype, device="cpu").item()
        if func is _ATEN.equal.default:
            return True
        if func is _ATEN._to_copy.default and torch.device(kwargs.get("device", "meta")).type == "cpu":
            dtype = kwargs.get("dtype") or args[0].dtype
            return torch.full(args[0].shape, self.number, dtype=dtype, device="cpu")
        if func is _ATEN.copy_.default and not args[0].is_meta:
            return args[0].fill_(self.number)
        if func is _ATEN.nonzero.default:
            return _all_places(args[0])
        if func in {_ATEN.index.Tensor, _ATEN.index_put_.default, _ATEN.index_put.default}:
            return func(args[0], _places(args[1]), *args[2:], **kwargs)
        return func(*args, **kwargs)


def _tensors(tree: object) -> Iterator[Tensor]:
    return (one for one in tree_iter(tree) if isinstance(one, Tensor))


def _all_places(mask: Tensor) -> Tensor:
    return torch.ones(mask.shape, dtype=torch.bool, device="cpu").nonzero().to("meta")


def _places(indices: list[Tensor | None]) -> list[Tensor | None]:
    """Return indices with each mask replaced by the places that it chooses, which are all."""
    chosen: list[Tensor | None] = []
    for index in indices:
        is_mask = index is not None and index.dtype == torch.bool
        chosen += _all_places(index).unbind(1) if is_mask else [index]
    return chosen


class UnnamedDeviceError(AssertionError):
    """A tensor was made without saying where."""


class NamedDevices(TorchFunctionMode):
    """Refuses what our packages make without naming a device; torch's own code may."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        is_ours = caller.partition(".")[0] in {"circuitproof", "circuitproof_lab"}
        if is_ours and func in _MAKERS and "device" not in (kwargs or {}):
            raise UnnamedDeviceError(f"{func.__name__} in {caller} names no device")
        return func(*args, **(kwargs or {}))
