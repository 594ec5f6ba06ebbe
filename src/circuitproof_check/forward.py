"""What a circuit computes, exactly, at the last position of a prompt.

Only what is asked for is computed. A value is determined by its node and by the values that it reads, so it
is remembered under these: prompts and circuits that read the same things share the work. Linear maps are
applied to the terms of a sum one by one for the same reason.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from fractions import Fraction
from typing import cast

from .architecture import EMBED, Band, Edges, Node, logits_node
from .claim import Claim
from .exact import (
    Matrix,
    Vector,
    centred,
    dot,
    from_fractions,
    mix,
    projected,
    rectified,
    scaled,
    total,
    vector,
)
from .reading import require
from .tensors import Weights

Terms = tuple[Vector, ...]
"""The vectors whose sum a node reads."""
Biases = frozenset[tuple[Node, int]]
"""Nodes, each with a layer whose shared bias it reads."""


class Forward:
    """Evaluates any circuit of a claim's model."""

    def __init__(self, claim: Claim, weights: Weights) -> None:
        self.claim, self.size, self.weights = claim, claim.architecture, weights
        self._known: dict[Hashable, Vector] = {}
        self._matrices: dict[str, Matrix] = {}

    def logits(
        self, edges: Edges, prompt: tuple[int, ...], biases: Biases = frozenset()
    ) -> tuple[Fraction, ...]:
        """Return the logits of the candidates; `biases` are shared ones that nodes read in any case."""
        key = ("logits", edges, prompt, biases)
        return self.remember(key, lambda: Run(self, edges, prompt, biases).logits()).fractions()

    def output_row(self, token: int) -> Vector:
        """Return a row of the output embedding."""
        return self.row("embed.token" if self.size.tied else "logits.weight", token)

    def remember(self, key: Hashable, compute: Callable[[], Vector]) -> Vector:
        """Return the value known under `key`, computing it the first time."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def row(self, name: str, index: int) -> Vector:
        """Return one row of a tensor."""
        return self.remember((name, index), lambda: self.weights.row(name, index))

    def whole(self, name: str) -> Vector:
        """Return a tensor of one dimension."""
        return self.remember(name, lambda: self.weights.whole(name))

    def affine(self, name: str, inputs: Terms, height: int) -> Vector:
        """Return the affine map `name` of the sum of `inputs`."""
        images = [self.image(name, term) for term in inputs]
        return total([*images, self.whole(f"{name}.bias")] if self.size.biases else images, height)

    def readout(self, inputs: Terms) -> Vector:
        """Return the candidates' logits of a final residual."""
        candidates = self.claim.task.candidates
        images = [self.image("logits", term) for term in inputs]
        if self.size.logit_bias:
            biases = [self.row("logits.bias", token).fractions()[0] for token in candidates]
            images.append(from_fractions(biases))
        return total(images, len(candidates))

    def normed(self, name: str, terms: Terms) -> Terms:
        """Return what a node reads after its norm; without one, the terms as they are."""
        norm = self.size.norm
        if norm is None:
            return terms
        require("norm_is_exact", isinstance(norm, Band), name, norm)
        return (self.remember((name, terms), lambda: self._banded(name, terms, cast("Band", norm))),)

    def _banded(self, name: str, terms: Terms, norm: Band) -> Vector:
        balanced = band_norm(total(terms, self.size.width), norm)
        stretched = scaled(balanced, self.whole(f"{name}.scale"))
        return total([stretched, self.whole(f"{name}.shift")], self.size.width)

    def image(self, name: str, term: Vector) -> Vector:
        """Return a matrix applied to a vector."""
        return self.remember((name, term), lambda: self.product(name, term))

    def product(self, name: str, term: Vector) -> Vector:
        """Return a matrix applied to a vector that will hardly be met again."""
        return self._matrix(name).apply(term)

    def _matrix(self, name: str) -> Matrix:
        if name not in self._matrices:
            is_readout = name == "logits"
            self._matrices[name] = self._readout() if is_readout else self.weights.matrix(f"{name}.weight")
        return self._matrices[name]

    def _readout(self) -> Matrix:
        rows = [self.output_row(token).fractions() for token in self.claim.task.candidates]
        return Matrix(from_fractions([entry for row in rows for entry in row]), self.size.width)


class Run:
    """One circuit on one prompt."""

    def __init__(
        self, forward: Forward, edges: Edges, prompt: tuple[int, ...], biases: Biases = frozenset()
    ) -> None:
        self.forward, self.prompt, self._size, self._biases = forward, prompt, forward.size, biases
        self._sources: dict[Node, list[Node]] = {}
        for source, target in edges:
            self._sources.setdefault(target, []).append(source)
        self._outputs: dict[tuple[Node, int], Vector] = {}

    def logits(self) -> Vector:
        """Return the candidates' logits at the last position."""
        terms = self.terms(logits_node(self._size), len(self.prompt) - 1)
        return self.forward.readout(self.forward.normed("logits.norm", terms))

    def terms(self, node: Node, position: int, without: Collection[Node] = ()) -> Terms:
        """Return the vectors whose sum a node reads, except for the outputs of some nodes."""
        sources = self._sources.get(node, [])
        terms: list[Vector] = []
        if EMBED in sources:
            token = self.forward.row("embed.token", self.prompt[position])
            terms += [token, self.forward.row("embed.position", position)]
        terms += [
            self._output(source, position) for source in sources if source != EMBED and source not in without
        ]
        kept = {layer for reader, layer in self._biases if reader == node}
        layers = sorted({source.layer for source in sources if source.is_head} | kept)
        if self._size.biases:
            terms += [self.forward.whole(f"attention.{layer}.output.bias") for layer in layers]
        return tuple(terms) or (vector([0] * self._size.width),)

    def _output(self, node: Node, position: int) -> Vector:
        key = (node, position)
        if key not in self._outputs:
            self._outputs[key] = self._head(*key) if node.is_head else self._mlp(*key)
        return self._outputs[key]

    def _mlp(self, node: Node, position: int) -> Vector:
        terms = self.terms(node, position)
        return self.forward.remember((node, terms), lambda: self._mlp_of(f"mlp.{node.layer}", terms))

    def _mlp_of(self, name: str, terms: Terms) -> Vector:
        slope = self._size.activation
        require("activation_is_exact", isinstance(slope, Fraction), name, slope)
        inputs = self.forward.normed(f"{name}.norm", terms)
        hidden = self.forward.affine(f"{name}.up", inputs, self._size.mlp_width)
        raised = rectified(hidden, cast("Fraction", slope))
        return self.forward.affine(f"{name}.down", (raised,), self._size.width)

    def _head(self, node: Node, position: int) -> Vector:
        name = f"head.{node.layer}.{node.head}"
        row = self._row(node, position)
        keys = [key for key, weight in enumerate(row) if weight]
        values = [self._projection(node, key, "value") for key in keys]
        mixed = mix([row[key] for key in keys], values, self._size.head_width)
        return self.forward.image(f"{name}.output", mixed)

    def _row(self, node: Node, position: int) -> Sequence[Fraction]:
        program = self.forward.claim.programs.get((node.layer, node.head))
        if program is not None:
            return program.row(self.prompt, position)
        is_exact = self._size.attention == "sparsemax"
        where = f"head {node.layer}.{node.head}"
        require("attention_is_exact", is_exact, where, self._size.attention)
        query = self._projection(node, position, "query")
        keys = [self._projection(node, key, "key") for key in range(position + 1)]
        scores = from_fractions([self._size.attention_scale * dot(query, key) for key in keys])
        return projected(scores, Fraction(1)).fractions()

    def _projection(self, node: Node, position: int, role: str) -> Vector:
        inputs = self.forward.normed(f"attention.{node.layer}.norm", self.terms(node, position))
        name = f"head.{node.layer}.{node.head}.{role}"
        height = self._size.head_width
        return self.forward.remember((name, inputs), lambda: self.forward.affine(name, inputs, height))


def band_norm(point: Vector, norm: Band) -> Vector:
    """Return the vector centred, with the mass of each sign brought into the band, and centred again."""
    centre = centred(point)
    opposite = vector([-number for number in centre.numbers], centre.denominator)
    sides = [_side(centre, norm, first=0), _side(opposite, norm, first=1)]
    return centred(mix([1, -1], sides, len(point.numbers)))


def _side(centre: Vector, norm: Band, *, first: int) -> Vector:
    side = rectified(centre, Fraction(0))
    mass = Fraction(sum(side.numbers), side.denominator)
    if mass > norm.high:
        return projected(centre, norm.high)
    if mass >= norm.low:
        return side
    if norm.is_continuous:
        return projected(centre, norm.low)
    raised = [number > 0 for number in side.numbers]
    if not any(raised):
        raised = [index % 2 == first for index in range(len(raised))]
    share = (norm.low - mass) / sum(raised)
    return mix([1, share], [side, vector(map(int, raised))], len(raised))
