"""Tensors of others, whatever their format of numbers."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from circuitproof.errors import InputError
from circuitproof.importers.stored import open_tensors, widening_notes


def test_halves_of_both_kinds_are_read_exactly_and_in_parts(tmp_path):
    """Each number of FP16 and BF16 is one of FP32; numpy has no BF16 of its own."""
    numbers = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    kinds = {"a": torch.float32, "b": torch.float16, "c": torch.bfloat16}
    save_file({name: numbers.to(kind) for name, kind in kinds.items()}, tmp_path / "x.safetensors")
    with open_tensors([tmp_path / "x.safetensors"]) as theirs:
        for name, kind in kinds.items():
            wanted = numbers.to(kind).float().numpy()
            assert np.array_equal(theirs[name][:], wanted)
            assert np.array_equal(theirs[name][1:3], wanted[1:3])
            assert np.array_equal(theirs[name][:, 2:], wanted[:, 2:])
            assert theirs[name].shape == (5, 4)
        assert widening_notes(theirs, kinds) == (
            "BF16 and F16 numbers are stored as the FP32 numbers that they are",
        )


def test_doubles_are_read_only_where_fp32_has_them(tmp_path):
    """Nothing is rounded."""
    save_file(
        {"a": torch.tensor([0.5]).double(), "b": torch.tensor([0.1], dtype=torch.float64)},
        tmp_path / "x.safetensors",
    )
    with open_tensors([tmp_path / "x.safetensors"]) as theirs:
        assert theirs["a"][:].tolist() == [0.5]
        with pytest.raises(InputError, match="holds a number that FP32 does not have"):
            theirs["b"][:]
