"""The slow obvious twin of the exact forward pass: `docs/certificate.md`, sentence by sentence, in fractions.

Every node is computed at every position of every prompt, dead or not. Nothing is shared, and no code with
`arithmetic/` or `semantics/`; only declared data types are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

from circuitproof.circuits.ablation import Counterfactual, Pooling, Zero
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Edge,
    Granularity,
    Head,
    Mlp,
    Node,
    Port,
    Target,
    Use,
)
from circuitproof.models.architecture import Architecture
from circuitproof.models.operators import Activation, BandNorm, LeakyRelu, Lift
from circuitproof.programs.syntax import Program
from program_twin import dense_row

Vector = Sequence[Any]
"""Fractions, or numbers that add and multiply like them."""
Outputs = dict[Node, list[Vector]]
"""What each node outputs at each position."""


def exact_tensors(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return tensors (of numpy or torch) as nested lists of fractions."""
    return {name: _exact(tensor.tolist()) for name, tensor in tensors.items()}


def _exact(value: Any) -> Any:
    return (
        [_exact(entry) for entry in value] if isinstance(value, list) else Fraction(*value.as_integer_ratio())
    )


def nearest(values: Sequence[Fraction], mass: Fraction) -> list[Fraction]:
    """Return the non-negative numbers of sum `mass` nearest to `values`: the sort formula."""
    totals = accumulate(sorted(values, reverse=True))
    cut = max((total - mass) / rank for rank, total in enumerate(totals, start=1))
    return [max(value - cut, Fraction(0)) for value in values]


def sparsemax(scores: Sequence[Fraction]) -> list[Fraction]:
    """Return the point of the simplex nearest to `scores`."""
    return nearest(scores, Fraction(1))


def bend(activation: Activation, number: Fraction) -> Fraction:
    """Return ReLU or leaky ReLU of a number."""
    if number > 0:
        return number
    return activation.slope * number if isinstance(activation, LeakyRelu) else Fraction(0)


def centred(values: Sequence[Fraction]) -> list[Fraction]:
    """Return the values less their mean."""
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def band_side(norm: BandNorm, values: Sequence[Fraction], spare: int) -> list[Fraction]:
    """Return the positive side of centred `values` brought into the band."""
    side = [max(value, Fraction(0)) for value in values]
    mass = sum(side)
    if mass > norm.high:
        return nearest(values, norm.high)
    if mass >= norm.low:
        return side
    if norm.lift is Lift.CONTINUOUS:
        return nearest(values, norm.low)
    takers = [place for place, value in enumerate(side) if value > 0] or range(spare, len(side), 2)
    share = (norm.low - mass) / len(takers)
    return [value + share if place in takers else value for place, value in enumerate(side)]


def band_norm(norm: BandNorm, values: Sequence[Fraction]) -> list[Fraction]:
    """Return what BandNorm makes of a vector, before its scale and shift."""
    middle = centred(values)
    positive = band_side(norm, middle, 0)
    negative = band_side(norm, [-value for value in middle], 1)
    return centred([one - other for one, other in zip(positive, negative, strict=True)])


def dot(left: Vector, right: Vector) -> Any:
    """Return the sum of products."""
    return sum((one * other for one, other in zip(left, right, strict=True)), Fraction(0))


def plus(left: Vector, right: Vector) -> Vector:
    """Return the sum of two vectors."""
    return [one + other for one, other in zip(left, right, strict=True)]


@dataclass(frozen=True)
class Twin:
    """A model: nested lists of fractions by tensor name. Operators are methods, so that a test can watch."""

    architecture: Architecture
    programs: Mapping[Head, Program]
    weights: Mapping[str, Any]

    def logits(self, circuit: Circuit, prompt: Sequence[int], candidates: Sequence[int]) -> tuple[Any, ...]:
        """Return the candidates' logits at the last position."""
        substitutes = self.substitutes(circuit, prompt)
        outputs = self.outputs(circuit, prompt, substitutes)
        last = self.read(LOGITS, circuit, (outputs, substitutes), len(prompt) - 1)
        rows = self.weights["embed.token" if self.architecture.tied else "logits.weight"]
        biases = self.weights["logits.bias"] if self.architecture.logit_bias else [Fraction(0)] * len(rows)
        return tuple(dot(rows[token], last) + biases[token] for token in candidates)

    def outputs(self, circuit: Circuit, prompt: Sequence[int], substitutes: Outputs) -> Outputs:
        """Return what each node outputs at each position."""
        outputs: Outputs = {}
        for node in circuit.graph.nodes():
            if node != LOGITS:
                outputs[node] = [
                    self.output(node, circuit, (outputs, substitutes), prompt[: i + 1])
                    for i in range(len(prompt))
                ]
        return outputs

    def substitutes(self, circuit: Circuit, prompt: Sequence[int]) -> Outputs:
        """Return what a cut edge from each node carries at each position, in place of its output."""
        ablation, model = circuit.ablation, whole(replace(circuit.graph, granularity=Granularity.HEAD))
        if isinstance(ablation, Zero):
            return {}
        if isinstance(ablation, Counterfactual):
            (partner,) = [other for one, other in ablation.pairs if one == tuple(prompt)]
            return self.outputs(model, partner, {})
        chosen = [one for one in ablation.prompts if ablation.over is Pooling.ALL or len(one) == len(prompt)]
        ran = [self.outputs(model, one, {}) for one in chosen]
        means: Outputs = {}
        for node in ran[0]:
            places = [[place for one in ran for place in one[node]]] * len(prompt)
            if ablation.over is Pooling.POSITION:
                places = [[one[node][i] for one in ran] for i in range(len(prompt))]
            means[node] = [mean(vectors) for vectors in places]
        return means

    def output(
        self, node: Node, circuit: Circuit, outputs: tuple[Outputs, Outputs], prefix: Sequence[int]
    ) -> Vector:
        """Return what a node outputs at the last position of a prefix."""
        here = len(prefix) - 1
        if node == EMBED:
            token = self.weights["embed.token"][prefix[here]]
            return token if self.architecture.rotary else plus(token, self.weights["embed.position"][here])
        if isinstance(node, Mlp):
            hidden = self.affine(f"mlp.{node.layer}.up", self.read(node, circuit, outputs, here))
            return self.affine(f"mlp.{node.layer}.down", [self.bend(number) for number in hidden])
        assert isinstance(node, Head)
        ports = (
            [node] * 3 if circuit.graph.granularity is Granularity.HEAD else [Port(node, use) for use in Use]
        )
        query, keys, values = (
            [self.read(port, circuit, outputs, place) for place in range(self.seen(here, outputs))]
            for port in ports
        )
        weights = self.attend(node, query[here], keys, prefix)
        return self.head(f"head.{node.layer}.{node.index}", values, weights)

    def seen(self, here: int, outputs: tuple[Outputs, Outputs]) -> int:
        """Return how many positions a head attends to from one: all of the prompt, if there is no mask."""
        return here + 1 if self.architecture.is_causal else len(outputs[0][EMBED])

    def head(self, name: str, inputs: Sequence[Vector], weights: Vector) -> Vector:
        """Return the output map of the values, weighted."""
        values = [self.affine(f"{name}.value", one) for one in inputs]
        mixed = [dot(weights, column) for column in zip(*values, strict=True)]
        return [dot(row, mixed) for row in self.weights[f"{name}.output.weight"]]

    def attend(self, head: Head, query: Vector, keys: Sequence[Vector], prefix: Sequence[int]) -> Vector:
        """Return where a head attends from the last position of a prefix."""
        if head in self.programs:
            return self.program_row(self.programs[head], prefix)
        name = f"head.{head.layer}.{head.index}"
        asking = self.affine(f"{name}.query", query)
        asked = [self.affine(f"{name}.key", one) for one in keys]
        if self.architecture.rotary:
            asking = self.rotated(asking, len(prefix) - 1)
            asked = [self.rotated(one, place) for place, one in enumerate(asked)]
        return self.sparsemax([self.architecture.attention_scale * dot(asking, key) for key in asked])

    def rotated(self, vector: Vector, place: int) -> Vector:
        """Return a query or a key at a position with its pairs of coordinates rotated."""
        half = (self.architecture.rotary or 0) // 2
        turned = list(vector)
        for m in range(half):
            cos, sin = self.weights["rotary.cos"][place][m], self.weights["rotary.sin"][place][m]
            turned[m] = vector[m] * cos + vector[m + half] * sin * Fraction(-1)
            turned[m + half] = vector[m + half] * cos + vector[m] * sin
        return turned

    def read(self, port: Target, circuit: Circuit, outputs: tuple[Outputs, Outputs], place: int) -> Vector:
        """Return the input of a node, or of a port of a head, at a position."""
        own, substitutes = outputs
        total: Vector = [Fraction(0)] * self.architecture.width
        layers = set[int]()
        for source in circuit.graph.nodes():
            carried = own if _is_kept(circuit, source, port) else substitutes
            if self.is_before(source, port) and source in carried:
                total = plus(total, carried[source][place])
                layers |= {source.layer} if isinstance(source, Head) else set()
        if self.architecture.biases:
            for layer in sorted(layers):
                total = plus(total, self.weights[f"attention.{layer}.output.bias"])
        return self.norm(_norm_name(port), total) if self.architecture.has_norm else total

    def is_before(self, source: Node, port: Target) -> bool:
        """Say whether a node is computed in an earlier stage; with `parallel` a layer is one stage."""
        if self.architecture.parallel and isinstance(source, Head) and isinstance(port, Mlp):
            return source.layer < port.layer
        return source.place[:2] < port.place[:2]

    def affine(self, name: str, vector: Vector) -> Vector:
        """Return a linear map with its bias, if there are biases."""
        mapped = [dot(row, vector) for row in self.weights[f"{name}.weight"]]
        return plus(mapped, self.weights[f"{name}.bias"]) if self.architecture.biases else mapped

    def norm(self, name: str, vector: Vector) -> Vector:
        """Return a node's own norm of its input."""
        scale, shift = self.weights[f"{name}.scale"], self.weights[f"{name}.shift"]
        return plus([one * other for one, other in zip(self.band_norm(vector), scale, strict=True)], shift)

    def band_norm(self, vector: Vector) -> Vector:
        """Return BandNorm before its scale and shift."""
        assert isinstance(self.architecture.norm, BandNorm)
        return band_norm(self.architecture.norm, vector)

    def sparsemax(self, scores: Vector) -> Vector:
        """Return the weights of a neural head."""
        return sparsemax(scores)

    def bend(self, number: Any) -> Any:
        """Return the activation of a number."""
        return bend(self.architecture.activation, number)

    def program_row(self, program: Program, prefix: Sequence[int]) -> Vector:
        """Return the weights of a program head."""
        return dense_row(program, prefix, len(prefix) - 1)


def mean(vectors: Sequence[Vector]) -> Vector:
    """Return the mean of vectors."""
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def _is_kept(circuit: Circuit, source: Node, target: Target) -> bool:
    return source.place[:2] < target.place[:2] and Edge(source, target) in circuit.edges


def _norm_name(port: Target) -> str:
    match port:
        case Head(layer) | Port(Head(layer)):
            return f"attention.{layer}.norm"
        case Mlp(layer):
            return f"mlp.{layer}.norm"
        case _:
            return "logits.norm"
