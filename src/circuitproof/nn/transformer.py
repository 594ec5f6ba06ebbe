"""One decoder-only transformer for every scale, run whole or as any of its circuits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from circuitproof.circuits.ablation import Counterfactual, Mean, Pooling, Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Mlp
from circuitproof.errors import InputError
from circuitproof.files.devices import CPU
from circuitproof.models.architecture import ROTARY_TABLES, Architecture
from circuitproof.models.declaration import NO_PROGRAMS, ProgramHeads, refuse_unfit_programs
from circuitproof.models.operators import Attention, BandNorm, LayerNorm, NoNorm
from circuitproof.nn.below import EMBEDDING, StreamMemory, TokenBatch
from circuitproof.nn.edge_masks import EdgeMasks, edge_masks_of
from circuitproof.nn.ops import activate, band_norm, softmax, sparsemax
from circuitproof.nn.program_heads import Patterns
from circuitproof.nn.rotation import Rotation
from circuitproof.nn.stream import (
    GapStream,
    Inputs,
    MaskedStream,
    PlainStream,
    RecordingStream,
    Stream,
    StreamState,
    SubstitutedStream,
)
from circuitproof.tasks.domain import LAST, Prompt, decided_at


class NormLayer(nn.Module):
    """What a node does to its input before it reads it; the scale and shift are learned."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.norm = architecture.norm
        if architecture.has_norm:
            self.scale = nn.Parameter(torch.ones(architecture.width, device=CPU))
            self.shift = _zeros(architecture.width)

    def forward(self, inputs: StreamState) -> StreamState:
        match self.norm:
            case NoNorm():
                return inputs
            case LayerNorm(epsilon):
                return functional.layer_norm(
                    inputs, inputs.shape[-1:], self.scale, self.shift, float(epsilon)
                )
            case BandNorm():
                return band_norm(inputs, self.norm) * self.scale + self.shift
            case _:
                assert_never(self.norm)


class AttentionLayer(nn.Module):
    """The heads of one layer; each tensor has one slice per head, queries and keys only for neural heads."""

    def __init__(self, architecture: Architecture, layer: int, programs: ProgramHeads) -> None:
        super().__init__()
        heads, width, head_width = architecture.heads, architecture.width, architecture.head_width
        self.programs = {head.index: one for head, one in programs.items() if head.layer == layer}
        self.neural = tuple(index for index in range(heads) if index not in self.programs)
        self.attention, self.is_causal = architecture.attention, architecture.is_causal
        self.score_scale = float(architecture.attention_scale)
        self.norm = NormLayer(architecture)
        if self.neural:
            self.query = _zeros(len(self.neural), head_width, width)
            self.key = _zeros(len(self.neural), head_width, width)
        self.value = _zeros(heads, head_width, width)
        self.output = _zeros(heads, width, head_width)
        self.query_bias = _bias(architecture, len(self.neural), head_width)
        self.key_bias = _bias(architecture, len(self.neural), head_width)
        self.value_bias = _bias(architecture, heads, head_width)
        self.output_bias = _bias(architecture, width)

    def mix(
        self, inputs: Inputs, heads: tuple[int, ...], patterns: Patterns, rotation: Rotation | None = None
    ) -> StreamState:
        """Return the values that each head mixes, before its output map."""
        query, key, value = inputs
        normed = self.norm(value)
        asking, asked = (normed if one is value else self.norm(one) for one in (query, key))
        values = _per_head(normed, self.value, self.value_bias, heads)
        if not self.programs:
            return self._attend(asking, asked, heads, rotation) @ values
        weights = [
            patterns.of(self.programs[head])[None, None].to(values.dtype)
            if head in self.programs
            else self._attend(_input_at(asking, place), _input_at(asked, place), (head,), rotation)
            for place, head in enumerate(heads)
        ]
        return torch.cat(torch.broadcast_tensors(*weights), 1) @ values

    def _attend(
        self, asking: StreamState, asked: StreamState, heads: tuple[int, ...], rotation: Rotation | None
    ) -> StreamState:
        slices = tuple(self.neural.index(head) for head in heads)
        queries = _per_head(asking, self.query, self.query_bias, slices)
        keys = _per_head(asked, self.key, self.key_bias, slices)
        if rotation is not None:
            queries, keys = rotation(queries), rotation(keys)
        scores = (queries @ keys.mT) * self.score_scale
        allowed = causal_mask(scores) if self.is_causal else torch.ones_like(scores, dtype=torch.bool)
        match self.attention:
            case Attention.SPARSEMAX:
                return sparsemax(scores, allowed)
            case Attention.SOFTMAX:
                return softmax(scores, allowed)
            case _:
                assert_never(self.attention)


def causal_mask(scores: Float[Tensor, "*row query key"]) -> Bool[Tensor, "*row query key"]:
    """Say of each query which keys do not come after it."""
    return torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril().expand_as(scores)


class MlpLayer(nn.Module):
    """The feed-forward block of one layer."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.activation = architecture.activation
        self.norm = NormLayer(architecture)
        self.up = _zeros(architecture.mlp_width, architecture.width)
        self.up_bias = _bias(architecture, architecture.mlp_width)
        self.down = _zeros(architecture.width, architecture.mlp_width)
        self.down_bias = _bias(architecture, architecture.width)

    def forward(self, inputs: StreamState) -> StreamState:
        hidden = activate(functional.linear(self.norm(inputs), self.up, self.up_bias), self.activation)
        return functional.linear(hidden, self.down, self.down_bias)


class Transformer(nn.Module):
    """A transformer of a declared architecture; weights are zero and rotations the usual until they are set.

    Heads with a program attend where it says, whatever edges are kept; they have no queries and no keys.
    """

    def __init__(self, architecture: Architecture, programs: ProgramHeads = NO_PROGRAMS) -> None:
        super().__init__()
        refuse_unfit_programs(architecture, programs)
        self.architecture = architecture
        self.programs = dict(sorted(programs.items(), key=lambda item: item[0].place))
        self.graph = architecture.graph
        self.token = _zeros(architecture.vocabulary, architecture.width)
        context, rotary = architecture.context, architecture.rotary
        self.position = _zeros(context, architecture.width) if rotary is None else None
        self.rotation = None if rotary is None else Rotation(context, rotary)
        self.attentions = nn.ModuleList(
            AttentionLayer(architecture, layer, self.programs) for layer in range(architecture.layers)
        )
        self.mlps = nn.ModuleList(
            MlpLayer(architecture) for _ in range(architecture.layers if self.graph.has_mlps else 0)
        )
        self.norm = NormLayer(architecture)
        predicted, width = architecture.predicted, architecture.width
        self.unembed = None if architecture.tied else _zeros(predicted, width)
        self.unembed_bias = _zeros(predicted) if architecture.logit_bias else None
        self.below: StreamMemory | None = None

    @property
    def device(self) -> torch.device:
        """Return where the model is, and computes."""
        return self.token.device

    def tokens_of(self, prompts: Sequence[Prompt]) -> TokenBatch:
        """Return prompts of one length as the model reads them, where it is."""
        return torch.tensor(prompts, device=self.device)

    def forward(
        self, tokens: TokenBatch, circuit: Circuit | None = None
    ) -> Float[Tensor, "prompt position token"]:
        """Return the logits at every position, of the whole model or of one circuit of it."""
        stream = self._stream(tokens, None if circuit is None else [circuit])
        return self._logits(self._residual(tokens, stream))[0, 0]

    def candidate_logits(
        self,
        tokens: TokenBatch,
        candidates: Sequence[int],
        circuits: Sequence[Circuit] | EdgeMasks | None = None,
        position: int = LAST,
    ) -> Float[Tensor, "circuit prompt candidate"]:
        """Return the candidates' logits at a position, of the model or of many circuits at once."""
        decided = decided_at(tokens.shape[1], position)
        residual = self._residual(tokens, self._stream(tokens, circuits))[..., decided : decided + 1, :]
        return self._logits(residual, list(candidates))[:, 0, :, 0]

    def final_residual(
        self, tokens: TokenBatch, circuits: Sequence[Circuit] | None = None
    ) -> Float[Tensor, "prompt width"]:
        """Return what the logits are read from at the last position, of the model or of one circuit."""
        return self._residual(tokens, self._stream(tokens, circuits))[0, 0, :, -1]

    def residual_logits(
        self, residual: Float[Tensor, "prompt width"], candidates: Sequence[int]
    ) -> Float[Tensor, "prompt candidate"]:
        """Return the candidates' logits of final residuals."""
        return self._logits(residual[None, None, :, None], list(candidates))[0, 0, :, 0]

    def output_directions(self, candidates: Sequence[int]) -> Float[Tensor, "candidate width"]:
        """Return the rows of the output embedding for the candidates."""
        return (self.token if self.unembed is None else self.unembed)[list(candidates)]

    def named_slices(self) -> Mapping[str, Tensor]:
        """Return every tensor of the file layout (`tensor_shapes`) as a view of the parameters."""
        return {name: tensor for name, tensor in _named_slices(self) if tensor is not None}

    def embedding_slices(self) -> Mapping[str, Tensor]:
        """Return the tensors of tokens and positions: embeddings, or the tables that rotate."""
        if self.rotation is not None:
            return {
                "embed.token": self.token,
                **dict(zip(ROTARY_TABLES, self.rotation.tables(), strict=True)),
            }
        assert self.position is not None  # noqa: S101  # one of the two is there
        return {"embed.token": self.token, "embed.position": self.position}

    def _stream(self, tokens: TokenBatch, circuits: Sequence[Circuit] | EdgeMasks | None) -> Stream:
        if circuits is None:
            return PlainStream(self.architecture.heads, self.device)
        masks = circuits if isinstance(circuits, EdgeMasks) else edge_masks_of(circuits)
        if replace(masks.graph, granularity=self.graph.granularity) != self.graph:
            raise InputError(
                f"the circuit is of {masks.graph.layers} layers of {masks.graph.heads} heads, "
                f"the model has {self.graph.layers} of {self.graph.heads}"
            )
        if not isinstance(masks.ablation, Zero):
            return SubstitutedStream(masks, self._substitutes(tokens, masks.ablation))
        stream = GapStream if masks.is_nearly_whole else MaskedStream
        return stream(masks, self.device)

    def _substitutes(self, tokens: TokenBatch, ablation: Mean | Counterfactual) -> Tensor:
        """Return what cut edges carry on some prompts, by the column of their source."""
        with torch.no_grad():
            if isinstance(ablation, Counterfactual):
                return self._outputs([ablation.partner_of(tuple(row)) for row in tokens.tolist()])
            if ablation.over is Pooling.POSITION:
                chosen = [prompt for prompt in ablation.prompts if len(prompt) == tokens.shape[1]]
                if not chosen:
                    raise InputError(f"no prompt that the mean is taken over has {tokens.shape[1]} tokens")
                return self._outputs(chosen).mean(1, keepdim=True)
            found = [self._outputs([prompt]).flatten(1, 2) for prompt in ablation.prompts]
            return torch.cat(found, 1).mean(1)[:, None, None]

    def _outputs(self, prompts: Sequence[Prompt]) -> Tensor:
        """Return what each node of the whole model puts out on prompts of one length, by column."""
        stream, tokens = RecordingStream(self.graph, self.device), self.tokens_of(prompts)
        self._refuse_unknown(tokens)
        patterns = Patterns(tokens)
        for layer in range(EMBEDDING, self.architecture.layers):
            self._climb(stream, tokens, patterns, layer)
        return stream.stacked()

    def _residual(self, tokens: TokenBatch, stream: Stream) -> StreamState:
        self._refuse_unknown(tokens)
        patterns = Patterns(tokens)

        def climb(layers: range) -> None:
            for layer in layers:
                self._climb(stream, tokens, patterns, layer)

        start = EMBEDDING if self.below is None else self.below.bring(tokens, stream, climb)
        climb(range(start, self.architecture.layers))
        return stream.read([LOGITS])

    def _climb(self, stream: Stream, tokens: TokenBatch, patterns: Patterns, layer: int) -> None:
        if layer == EMBEDDING:
            embedded = self.token[tokens]
            if self.position is not None:
                embedded = embedded + self.position[: tokens.shape[1]]
            stream.write(EMBED, embedded[None, None])
            return
        attention = self.attentions[layer]
        assert isinstance(attention, AttentionLayer)  # noqa: S101  # torch types module lists as Module
        has_mlp = self.graph.has_mlps and stream.has_mlp(layer)
        beside = stream.read([Mlp(layer)]) if has_mlp and self.graph.is_parallel else None
        if heads := stream.heads(layer):
            mixed = attention.mix(stream.read_heads(layer), heads, patterns, self.rotation)
            stream.write_heads(layer, mixed, _chosen(attention.output, heads), attention.output_bias)
        if has_mlp:
            read = stream.read([Mlp(layer)]) if beside is None else beside
            stream.write(Mlp(layer), self.mlps[layer](read))

    def _logits(self, residual: StreamState, tokens: list[int] | None = None) -> StreamState:
        weight = self.token if self.unembed is None else self.unembed
        bias = self.unembed_bias
        if tokens is not None:
            weight, bias = weight[tokens], _at(bias, tokens)
        return functional.linear(self.norm(residual), weight, bias)

    def _refuse_unknown(self, tokens: Tensor) -> None:
        context, last = self.architecture.context, self.architecture.vocabulary - 1
        if tokens.shape[1] > context:
            raise InputError(f"a prompt has {tokens.shape[1]} tokens, the model's context is {context}")
        if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) <= last:
            raise InputError(f"a prompt has a token outside 0 to {last}, the model's vocabulary")


def initialise(model: Transformer, seed: int, deviation: float) -> None:
    """Draw every matrix from a normal distribution; output maps are smaller in deeper models, biases zero.

    The model is still in main memory, where random numbers are the same on every machine.
    """
    generator = torch.Generator(CPU).manual_seed(seed)
    into_residual = deviation / (2 * model.architecture.layers) ** 0.5
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and not name.endswith("bias"):
                is_output = name.endswith((".output", ".down"))
                parameter.normal_(0, into_residual if is_output else deviation, generator=generator)


def _named_slices(model: Transformer) -> Iterator[tuple[str, Tensor | None]]:
    """Walk the tensors of the file layout; a model may lack an embedding or a bias."""
    yield from model.embedding_slices().items()
    for layer, attention in enumerate(model.attentions):
        assert isinstance(attention, AttentionLayer)  # noqa: S101  # torch types module lists as Module
        for index in range(len(attention.value)):
            yield from _head_slices(attention, index, f"head.{layer}.{index}")
        yield f"attention.{layer}.output.bias", attention.output_bias
        yield from _norm_slices(attention.norm, f"attention.{layer}.norm")
        if model.graph.has_mlps:
            yield from _mlp_slices(model.mlps[layer], f"mlp.{layer}")
    yield from _norm_slices(model.norm, "logits.norm")
    yield "logits.weight", model.unembed
    yield "logits.bias", model.unembed_bias


def _head_slices(attention: AttentionLayer, index: int, name: str) -> Iterator[tuple[str, Tensor | None]]:
    if index in attention.neural:
        own = attention.neural.index(index)
        yield f"{name}.query.weight", attention.query[own]
        yield f"{name}.query.bias", _at(attention.query_bias, own)
        yield f"{name}.key.weight", attention.key[own]
        yield f"{name}.key.bias", _at(attention.key_bias, own)
    yield f"{name}.value.weight", attention.value[index]
    yield f"{name}.value.bias", _at(attention.value_bias, index)
    yield f"{name}.output.weight", attention.output[index]


def _mlp_slices(mlp: nn.Module, name: str) -> Iterator[tuple[str, Tensor | None]]:
    assert isinstance(mlp, MlpLayer)  # noqa: S101  # the same
    yield from _norm_slices(mlp.norm, f"{name}.norm")
    yield f"{name}.up.weight", mlp.up
    yield f"{name}.up.bias", mlp.up_bias
    yield f"{name}.down.weight", mlp.down
    yield f"{name}.down.bias", mlp.down_bias


def _norm_slices(norm: NormLayer, name: str) -> Iterator[tuple[str, Tensor]]:
    if not isinstance(norm.norm, NoNorm):
        yield f"{name}.scale", norm.scale
        yield f"{name}.shift", norm.shift


def _zeros(*shape: int) -> nn.Parameter:
    """Return weights that are not set yet; a model is made in main memory and moved as a whole."""
    return nn.Parameter(torch.zeros(shape, device=CPU))


def _bias(architecture: Architecture, *shape: int) -> nn.Parameter | None:
    return _zeros(*shape) if architecture.biases and all(shape) else None


def _at(bias: Tensor | None, places: int | list[int]) -> Tensor | None:
    return None if bias is None else bias[places]


def _input_at(inputs: StreamState, place: int) -> StreamState:
    """Return what the head at `place` reads, which may be what all of them read."""
    return inputs if inputs.shape[1] == 1 else inputs[:, place : place + 1]


def _per_head(
    inputs: StreamState, weight: Tensor, bias: Tensor | None, heads: tuple[int, ...]
) -> StreamState:
    """Apply each head's own map; when the heads share their input, as one matrix product."""
    chosen, shift = _chosen(weight, heads), None if bias is None else _chosen(bias, heads)
    if inputs.shape[1] == 1:
        flat = functional.linear(
            inputs[:, 0], chosen.flatten(0, 1), None if shift is None else shift.flatten()
        )
        return flat.unflatten(-1, chosen.shape[:2]).movedim(-2, 1)
    outputs = inputs @ chosen.mT.unsqueeze(1)
    return outputs if shift is None else outputs + shift[:, None, None]


def _chosen(slices: Tensor, heads: tuple[int, ...]) -> Tensor:
    return slices if len(heads) == len(slices) else slices[list(heads)]
