"""Where a neural head attends on some prompts: at every query, as its model does and under softmax.

All queries are recorded, as in the paper, where a softmax head of six-token prompts has a mean support of 3.5
keys: the mean of 1 to 6. The scores are those of the whole model, in floats; nothing that is proved rests on
them.
"""

from dataclasses import dataclass
from typing import assert_never

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.models.operators import Attention
from circuitproof.nn.ops import softmax, sparsemax
from circuitproof.nn.transformer import AttentionLayer, Transformer, causal_mask
from circuitproof_lab.distill.prefix_table import ByteRows, PrefixTable


@dataclass(frozen=True, slots=True, eq=False)
class AttentionRecord:
    """The attention of a head on a table of prefixes; arrays are [key, prefix]."""

    prefix_table: PrefixTable
    attention: Attention
    weights: npt.NDArray[np.float32]
    """What the model's own attention makes of the head's scores."""
    softmax_support: ByteRows
    """The keys with weight if the same scores went through softmax."""

    @property
    def support(self) -> ByteRows:
        """Return 1 at every key with weight."""
        return (self.weights > 0).astype(np.uint8)

    @property
    def mean_support(self) -> float:
        """Return how many keys have weight, the mean over all queries."""
        return _mean_support(self.support, self.prefix_table)

    @property
    def mean_softmax_support(self) -> float:
        """Return how many keys would have weight under softmax, the mean over all queries."""
        return _mean_support(self.softmax_support, self.prefix_table)


def record(model: Transformer, head: Head, prefix_table: PrefixTable) -> AttentionRecord:
    """Run the whole model and note where a head attends from each prefix of the table."""
    if head not in model.graph:
        raise InputError(f"there is no {head} in {model.graph.layers} layers of {model.graph.heads} heads")
    if head in model.programs:
        heads = (one for layer in range(model.graph.layers) for one in model.graph.heads_of(layer))
        neural = [str(one) for one in heads if one not in model.programs]
        raise InputError(
            f"{head} is a program already, so that it has no attention to search near; want a neural head, "
            f"{', '.join(neural) if neural else 'of which this model has none'}"
        )
    weights = np.zeros(prefix_table.nothing().shape, dtype=np.float32)
    support = prefix_table.nothing()
    for prompts, columns in prefix_table.groups():
        own, soft = _attention(model, head, model.tokens_of(prompts))
        for places, own_rows, soft_rows in zip(columns, own.cpu().numpy(), soft.cpu().numpy(), strict=True):
            weights[: len(places), places] = own_rows.T
            support[: len(places), places] = soft_rows.T > 0
    return AttentionRecord(prefix_table, model.architecture.attention, weights, support)


@torch.no_grad()
def _attention(model: Transformer, head: Head, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the model's own attention and softmax make of a head's scores, [prompt, query, key]."""
    inputs = _inputs(model, head.layer, tokens)
    slices, name = model.named_slices(), f"head.{head.layer}.{head.index}"
    queries, keys = (
        torch.nn.functional.linear(inputs, slices[f"{name}.{part}.weight"], slices.get(f"{name}.{part}.bias"))
        for part in ("query", "key")
    )
    if model.rotation is not None:
        queries, keys = (model.rotation(one[None, None])[0, 0] for one in (queries, keys))
    scores = (queries @ keys.mT) * float(model.architecture.attention_scale)
    causal = causal_mask(scores)
    soft = softmax(scores, causal)
    match model.architecture.attention:
        case Attention.SPARSEMAX:
            return sparsemax(scores, causal), soft
        case Attention.SOFTMAX:
            return soft, soft
        case _:
            assert_never(model.architecture.attention)


def _inputs(model: Transformer, layer: int, tokens: Tensor) -> Tensor:
    """Return what the heads of a layer read, after its norm, [prompt, position, width]."""
    seen: list[Tensor] = []
    attention = model.attentions[layer]
    assert isinstance(attention, AttentionLayer)  # noqa: S101  # torch types module lists as Module

    def note(_module: object, _inputs: object, output: Tensor) -> None:
        seen.append(output[0, 0])

    handle = attention.norm.register_forward_hook(note)
    try:
        model(tokens)
    finally:
        handle.remove()
    return seen[0]


def _mean_support(support: ByteRows, prefix_table: PrefixTable) -> float:
    return float(support.sum(0) @ prefix_table.queries / prefix_table.queries.sum())
