"""What a circuit computes, exactly, where a prompt is decided, also with something added inside it.

Numbers are affine in what is added; mostly nothing is, and they are constants. Only what is asked for is
computed. A constant is determined by its node and by the constants that it reads, so it is remembered under
these: prompts and circuits that read the same things share the work. Linear maps are applied to the terms of
a sum one by one for the same reason. Nodes are computed in their order, so that a deep circuit nests nothing,
and a node that reads the same in two circuits is computed in one of them.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from .architecture import EMBED, PORTS, ROTATIONS, Band, Edges, Node, embedding, logits_node
from .circuits import Biases, Circuit, Circuits, NeededPositions, Reading
from .claim import Claim
from .exact import Matrix, Vector, dot, from_fractions, mix, rotated, scaled, total, vector
from .reading import require
from .regions.affine import (
    AffineVector,
    SampledRegion,
    banded,
    constant,
    joined,
    moved,
    nearest,
    rectified,
    weighted,
)
from .regions.forms import Region
from .tensors import Weights
from .work import NUMBER, OBJECT, STEP, paid, spend
from .work import key as bytes_of

Terms = tuple[AffineVector, ...]
"""The vectors whose sum a node reads."""
Outputs = dict[tuple[int, int, int], AffineVector]
"""What nodes put out, by the number of the prompt, the number of the node, and the position."""
_KEPT = 1 << 17
"""How many of them are kept for other circuits."""


@dataclass(frozen=True, slots=True)
class Added:
    """Something that is added at a side of a node at some positions, and where branches are known."""

    node: Node
    is_output: bool
    at: Mapping[int, AffineVector]
    sampled: SampledRegion


NOTHING = Added(EMBED, is_output=False, at={}, sampled=SampledRegion(Region(Fraction(0)), ()))


class Forward(Circuits):
    """Evaluates any circuit of a claim's model."""

    def __init__(self, claim: Claim, weights: Weights) -> None:
        super().__init__(claim)
        self.weights = weights
        self._known: dict[Hashable, Vector] = {}
        self._logits: dict[tuple[int, int], tuple[Fraction, ...]] = {}
        self._matrices: dict[str, Matrix] = {}
        self._outputs: Outputs = {}

    def logits(
        self, edges: Edges, prompt: tuple[int, ...], biases: Biases = frozenset()
    ) -> tuple[Fraction, ...]:
        """Return the logits of the candidates; `biases` are shared ones that nodes read in any case."""
        circuit = self.circuit(edges, biases)
        asked = circuit.numbers[logits_node(self.size)], self.number(prompt)
        if asked not in self._logits:
            self._logits[asked] = CircuitRun(self, circuit, prompt).logits().constant.fractions()
        return self._logits[asked]

    def substitute(self, source: Node, prompt: tuple[int, ...], position: int) -> Vector:
        """Return what a cut edge from a node carries at a position of a prompt."""
        ablation = self.claim.ablation
        if ablation.kind == "counterfactual":
            return self._in_model(source, ablation.partners[bytes_of(prompt)], position)
        spot = None if ablation.is_pooled else (len(prompt), position)
        return self.remember(("mean", source, spot), lambda: self._mean(source, spot))

    def _mean(self, source: Node, spot: tuple[int, int] | None) -> Vector:
        """Return the mean at a position of the prompts of a length, or that of all of them everywhere."""
        places: list[tuple[tuple[int, ...], int]] = []
        for prompt in paid(self.claim.ablation.prompts, NUMBER):
            if spot is None:
                places += [(prompt, position) for position in range(len(prompt))]
            elif len(prompt) == spot[0]:
                places.append((prompt, spot[1]))
        vectors = [self._in_model(source, prompt, position) for prompt, position in paid(places, OBJECT)]
        return mix([Fraction(1, len(places))] * len(places), vectors, self.size.width)

    def _in_model(self, source: Node, prompt: tuple[int, ...], position: int) -> Vector:
        """Return what a node of the whole model puts out, where nothing is added."""
        name = ("model", source, self.number(prompt), position)
        if name not in self._known:
            run = CircuitRun(self, self.model, prompt, wanted=(source, position))
            self._known[name] = run.output(source, position)
        return self._known[name]

    def outputs(self) -> Outputs:
        """Return what nodes are known to put out where nothing is added, with room for more."""
        if len(self._outputs) > _KEPT:
            self._outputs = {}
        return self._outputs

    def output_row(self, token: int) -> Vector:
        return self.row("embed.token" if self.size.tied else "logits.weight", token)

    def remember(self, key: Hashable, compute: Callable[[], Vector]) -> Vector:
        """Return the value known under `key`, which begins with its kind; compute it the first time."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def row(self, name: str, index: int) -> Vector:
        return self.remember(("row", name, index), lambda: self.weights.row(name, index))

    def whole(self, name: str) -> Vector:
        return self.remember(("whole", name), lambda: self.weights.whole(name))

    def biases(self, name: str) -> list[Vector]:
        """Return the bias of an affine map, if it has one."""
        if name == "logits":
            rows = self.claim.task.candidates if self.size.logit_bias else ()
            biases = [self.row("logits.bias", token).fractions()[0] for token in rows]
            return [from_fractions(biases)] if biases else []
        return [self.whole(f"{name}.bias")] if self.size.biases else []

    def affine(self, name: str, inputs: Sequence[Vector], height: int) -> Vector:
        """Return the affine map `name` of the sum of `inputs`."""
        return total([*(self.image(name, term) for term in inputs), *self.biases(name)], height)

    def image(self, name: str, term: Vector) -> Vector:
        return self.remember(("image", name, term.key), lambda: self.product(name, term))

    def product(self, name: str, term: Vector) -> Vector:
        """Return a matrix applied to a vector that will hardly be met again."""
        return self._matrix(name).apply(term)

    def _matrix(self, name: str) -> Matrix:
        if name not in self._matrices:
            self._matrices[name] = Matrix(*self.entries(name))
        return self._matrices[name]

    def entries(self, name: str) -> tuple[Vector, int]:
        """Return the numbers of an affine map's matrix, row after row, and how many a row has."""
        if name != "logits":
            return self.weights.whole(f"{name}.weight"), self.weights.width(f"{name}.weight")
        rows = [self.output_row(token).fractions() for token in self.claim.task.candidates]
        return from_fractions([entry for row in rows for entry in row]), self.size.width


class CircuitRun:
    """One circuit on one prompt."""

    def __init__(
        self,
        forward: Forward,
        circuit: Circuit,
        prompt: tuple[int, ...],
        added: Added = NOTHING,
        *,
        wanted: tuple[Node, int] | None = None,
    ) -> None:
        """Compute what the logits need, or what a node needs for its output at a position."""
        self._forward, self._prompt, self._size, self._wanted = forward, prompt, forward.size, wanted
        self._circuit, self._added, self._number = circuit, added, forward.number(prompt)
        self._outputs: Outputs = forward.outputs() if added is NOTHING else {}
        self._reading = Reading(forward, prompt)
        self._decided = forward.claim.task.decided(prompt)
        self._compute()

    def logits(self) -> AffineVector:
        """Return the candidates' logits where the prompt is decided."""
        inputs = self._input(logits_node(self._size), self._decided, "logits.norm")
        return self._map("logits", inputs, len(self._forward.claim.task.candidates))

    def residual(self) -> Terms:
        """Return the vectors whose sum the logits read there."""
        return self._terms(logits_node(self._size), self._decided)

    def _compute(self) -> None:
        """Compute what the logits need of each node, in the order of nodes."""
        needed = self._needed()
        for node in paid(self._circuit.order):
            for position in sorted(needed.get(node, ())):
                spend(2 * OBJECT)
                self._outputs[self._name(node, position)] = self._output(node, position)

    def _needed(self) -> NeededPositions:
        """Return the positions at which the output of each node is read and is not known."""
        end = logits_node(self._size)
        wanted, place = self._wanted or (end, self._decided)
        if wanted == EMBED or (wanted != end and self._name(wanted, place) in self._outputs):
            return {}
        return self._reading.complete(self._circuit, {wanted: {place}}, (self._name, self._outputs))

    def output(self, node: Node, position: int) -> Vector:
        """Return what a node puts out where everything is computed and nothing added."""
        if node == EMBED:
            return total(self._embedded(position), self._size.width)
        return self._outputs[self._name(node, position)].constant

    def _name(self, node: Node, position: int) -> tuple[int, int, int]:
        return self._number, self._circuit.numbers[node], position

    def _terms(self, node: Node, position: int) -> Terms:
        """Return the vectors whose sum is read at a port, or by a node that has one."""
        sources, here = self._circuit.sources.get(node, []), self._added.at.get(position)
        spend(OBJECT + 2 * STEP * len(sources))
        found = [constant(row) for row in self._embedded(position)] if EMBED in sources else []
        found += [self._outputs[self._name(source, position)] for source in sources if source != EMBED]
        cut = paid(self._circuit.cut.get(node, []), OBJECT)
        found += [constant(self._forward.substitute(one, self._prompt, position)) for one in cut]
        if self._size.biases:
            names = [f"attention.{layer}.output.bias" for layer in self._circuit.layers[node]]
            found += [constant(self._forward.whole(name)) for name in names]
        is_embedded = self._is_added(EMBED, is_output=True) and EMBED in sources
        if here is not None and (is_embedded or self._is_added(node.reader, is_output=False)):
            found.append(here)
        return tuple(found) or (constant(vector([0] * self._size.width)),)

    def _embedded(self, position: int) -> list[Vector]:
        tables = embedding(self._size, self._prompt[position], position)
        return [self._forward.row(table, row) for table, row in tables]

    def _is_added(self, node: Node, *, is_output: bool) -> bool:
        return (self._added.node, self._added.is_output) == (node, is_output)

    def _input(self, node: Node, position: int, name: str) -> Terms:
        """Return what a node reads after its norm; without one, the terms as they are."""
        terms, norm = self._terms(node, position), self._size.norm
        if norm is None:
            return terms
        require("norm_is_exact", isinstance(norm, Band), name, norm)
        return (self._remembered("norm", name, terms, lambda: self._banded(name, terms, cast("Band", norm))),)

    def _banded(self, name: str, terms: Terms, norm: Band) -> AffineVector:
        width, scale = self._size.width, self._forward.whole(f"{name}.scale")
        balanced = banded(self._added.sampled, joined(terms, width), norm, name)
        stretched = balanced.each(lambda one: scaled(one, scale))
        return joined((stretched, constant(self._forward.whole(f"{name}.shift"))), width)

    def _remembered(
        self, kind: str, name: str, terms: Terms, compute: Callable[[], AffineVector]
    ) -> AffineVector:
        """Return a function of terms, computed once where they are constants."""
        if any(term.slopes for term in terms):
            return compute()
        constants = tuple(term.constant.key for term in terms)
        return constant(self._forward.remember((kind, name, constants), lambda: compute().constant))

    def _map(self, name: str, terms: Terms, height: int) -> AffineVector:
        """Return an affine map: all of it of the constants, its linear part of the slopes."""
        fixed = self._forward.affine(name, [term.constant for term in terms], height)
        return AffineVector(fixed, moved(terms, lambda one: self._forward.product(name, one), height))

    def _output(self, node: Node, position: int) -> AffineVector:
        found = self._head(node, position) if node.is_head else self._mlp(node, position)
        if self._is_added(node, is_output=True) and position in self._added.at:
            return joined((found, self._added.at[position]), self._size.width)
        return found

    def _mlp(self, node: Node, position: int) -> AffineVector:
        name = f"mlp.{node.layer}"
        inputs = self._input(node, position, f"{name}.norm")
        return self._remembered("mlp", name, inputs, lambda: self._mlp_of(name, inputs))

    def _mlp_of(self, name: str, inputs: Terms) -> AffineVector:
        slope = self._size.activation
        require("activation_is_exact", isinstance(slope, Fraction), name, slope)
        hidden = self._map(f"{name}.up", inputs, self._size.mlp_width)
        raised = rectified(self._added.sampled, hidden, cast("Fraction", slope), name)
        return self._map(f"{name}.down", (raised,), self._size.width)

    def _head(self, node: Node, position: int) -> AffineVector:
        name, width = f"head.{node.layer}.{node.head}", self._size.head_width
        row = self._row(node, position)
        weights = row.constant.fractions()
        spend(NUMBER * len(weights))
        keys = [key for key in range(len(weights)) if weights[key] or row.slopes]
        values = [self._projection(node, key, "value") for key in keys]
        is_linear = not row.slopes or not any(value.slopes for value in values)
        require("products_are_linear", is_linear, name)
        mixed = weighted([weights[key] for key in keys], values, width)
        for place, slope in row.slopes.items():
            shares = slope.fractions()
            share = weighted([shares[key] for key in keys], values, width).constant
            mixed = joined((mixed, AffineVector(vector([0] * width), {place: share})), width)
        product, image = self._forward.product, self._forward.image
        slopes = moved((mixed,), lambda one: product(f"{name}.output", one), self._size.width)
        return AffineVector(image(f"{name}.output", mixed.constant), slopes)

    def _row(self, node: Node, position: int) -> AffineVector:
        """Return the weights of a head's keys."""
        name = f"head {node.layer}.{node.head}"
        if (node.layer, node.head) in self._forward.claim.programs:
            return constant(from_fractions(self._reading.weights(node, position)))
        require("attention_is_exact", self._size.attention == "sparsemax", name, self._size.attention)
        query = self._projection(node, position, "query")
        last = self._size.last_key(position, self._prompt)
        keys = [self._projection(node, key, "key") for key in range(last + 1)]
        is_linear = not query.slopes or not any(key.slopes for key in keys)
        require("scores_are_linear", is_linear, name)
        return nearest(self._added.sampled, self._scores(query, keys), Fraction(1), name)

    def _scores(self, query: AffineVector, keys: Sequence[AffineVector]) -> AffineVector:
        """Return the scaled products of a query with keys, at most one of which depends on what is added."""
        spend(sum(NUMBER + STEP * len(key.slopes) for key in keys) + STEP * len(query.slopes))
        scale, nothing = self._size.attention_scale, vector([0] * self._size.head_width)
        slopes: dict[int, Vector] = {}
        for place in sorted({*query.slopes, *(place for key in keys for place in key.slopes)}):
            spend(NUMBER * len(keys))
            turned = query.slopes.get(place, nothing)
            products = [
                dot(turned, key.constant) + dot(query.constant, key.slopes.get(place, nothing))
                for key in keys
            ]
            slopes[place] = from_fractions([scale * product for product in products])
        fixed = from_fractions([scale * dot(query.constant, key.constant) for key in keys])
        return AffineVector(fixed, {place: slope for place, slope in slopes.items() if any(slope.numbers)})

    def _projection(self, node: Node, position: int, role: str) -> AffineVector:
        spend(2 * OBJECT)
        name, height = f"head.{node.layer}.{node.head}.{role}", self._size.head_width
        is_program = (node.layer, node.head) in self._forward.claim.programs
        port = node if is_program else node.at(1 + PORTS.index(role))
        inputs = self._input(port, position, f"attention.{node.layer}.norm")
        found = self._remembered("projection", name, inputs, lambda: self._map(name, inputs, height))
        return found if role == "value" else self._turned(found, position)

    def _turned(self, point: AffineVector, position: int) -> AffineVector:
        """Return a query or a key as its position rotates it."""
        if not self._size.rotary:
            return point
        cosines, sines = (self._forward.row(name, position) for name in ROTATIONS)
        return point.each(lambda one: rotated(one, cosines, sines))
