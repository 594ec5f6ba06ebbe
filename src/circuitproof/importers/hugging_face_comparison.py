"""The logits of an imported model beside those of `transformers`: the same but for rounding."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import Tensor

from circuitproof.errors import InputError
from circuitproof.files.codec import Key
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.rotation import Rotation
from circuitproof.nn.seeding import generator_of
from circuitproof.nn.transformer import AttentionLayer, Transformer

_PROMPTS = 2
_HALF = 2.0**-26
"""Half of the binary digits of FP64: the other half is room for what a model makes of its rounding."""

_ANGLE = 2.0**-21
"""How far an angle of FP32 may be off for each position: a few roundings of what is multiplied by it."""


@dataclass(frozen=True, slots=True)
class LogitAgreement:
    """How far two forwards of the same weights differ, over all positions and tokens."""

    positions: int
    largest_logit: float
    difference: Annotated[float, Key("difference_fp64")]
    """In FP64, with the same scale of attention: rounding alone, or the models are not the same."""
    difference_fp32: float
    """In FP32, as both stand."""


def compare(source: Path, model: Path, device: Device = CPU) -> LogitAgreement:
    """Compare a model with its source in `transformers` on random prompts as long as its context.

    Refused unless the FP64 logits agree in half of their digits. Our scale of attention is an FP32 number;
    for this comparison it is the double that `transformers` divides by. Likewise with the tables of rotary
    positions, which it computes in FP32 and ours must be near.
    """
    ours, theirs = load_model(model, device).model.eval(), _theirs(source).to(device)
    difference_fp32, _ = _measure(ours, theirs)
    theirs = theirs.double()
    if ours.rotation is not None:
        _take_tables(ours.double().rotation, theirs, source)
    difference, largest = _measure(_unrounded(ours.double()), theirs)
    found = LogitAgreement(_PROMPTS * ours.architecture.context, largest, difference, difference_fp32)
    if not found.difference <= _HALF * max(found.largest_logit, 1):
        raise InputError(
            f"{source}: our logits differ from those of transformers by {found.difference:.3g} in FP64, "
            f"where the largest is {found.largest_logit:.3g}; nothing was written"
        )
    return found


def _theirs(source: Path) -> Any:  # noqa: ANN401  # the package is optional, so its type is not at hand
    from transformers import AutoModelForCausalLM, logging  # pyright: ignore[reportMissingImports]  # an extra

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    loaded = AutoModelForCausalLM.from_pretrained(source, local_files_only=True, attn_implementation="sdpa")
    return loaded.float().eval()


def _take_tables(rotation: Rotation | None, theirs: Any, source: Path) -> None:  # noqa: ANN401  # the same
    """Give a model the tables that `transformers` computes, if they are its own but for FP32's rounding."""
    assert rotation is not None  # noqa: S101  # asked for models that have one
    own, half = rotation.tables(), rotation.tables()[0].shape[1]
    positions = torch.arange(len(own[0]), device=own[0].device)[None]
    found = theirs.base_model.rotary_emb(own[0].new_zeros(1, dtype=torch.float64), positions)
    room = _ANGLE * (1 + positions[0, :, None])
    for table, other in zip(own, found, strict=True):
        if bool(((table - other[0, :, :half]).abs() > room).any()):
            raise InputError(f"{source}: the tables of positions are not those of transformers")
        table.copy_(other[0, :, :half])


def _unrounded(model: Transformer) -> Transformer:
    for layer in model.attentions:
        assert isinstance(layer, AttentionLayer)  # noqa: S101  # torch types module lists as Module
        if layer.score_scale != 1:
            layer.score_scale = model.architecture.head_width**-0.5
    return model


def _measure(ours: Transformer, theirs: Any) -> tuple[float, float]:  # noqa: ANN401  # the same
    """Return the largest difference and the largest logit; either is NaN where any number is."""
    sizes, rows = ours.architecture, list[Tensor]()
    with torch.no_grad():
        for seed in range(_PROMPTS):
            drawn = generator_of(seed, 0)
            tokens = torch.randint(sizes.vocabulary, (1, sizes.context), generator=drawn, device=CPU)
            one, other = (model(tokens.to(ours.device)) for model in (ours, theirs))
            other = other.logits
            rows.append(torch.stack([(one - other).abs().max(), other.abs().max()]))
    difference, largest = torch.stack(rows).amax(0).tolist()
    return difference, largest
