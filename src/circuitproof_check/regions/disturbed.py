"""What a circuit computes at the last position of a prompt when something is added inside it.

It has been computed without that before, so norm, activation and attention are known to be exact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from circuitproof_check.architecture import EMBED, Band, Edges, Node, logits_node
from circuitproof_check.exact import Vector, dot, from_fractions, scaled, total, vector
from circuitproof_check.forward import Run
from circuitproof_check.reading import require

from .affine import Affine, Ground, banded, nearest, rectified, weighted


@dataclass(frozen=True, slots=True)
class Place:
    """A side of a node at which something is added."""

    node: Node
    is_output: bool


class Disturbed:
    """One circuit on one prompt, with something added at a place at some positions."""

    def __init__(
        self, run: Run, edges: Edges, place: Place, added: Mapping[int, Affine], ground: Ground
    ) -> None:
        self._run, self._forward, self._size = run, run.forward, run.forward.size
        self._place, self._added, self._ground = place, added, ground
        self._sources: dict[Node, list[Node]] = {}
        for source, target in edges:
            self._sources.setdefault(target, []).append(source)
        self._reached = self._downstream(edges)
        self._outputs: dict[tuple[Node, int], Affine] = {}

    def _downstream(self, edges: Edges) -> set[Node]:
        """Return the nodes that compute something else than without what is added."""
        reached = {self._place.node} - {EMBED}
        for source, target in sorted(edges):
            if source in reached or (source == EMBED == self._place.node):
                reached.add(target)
        return reached

    def logits(self) -> Affine:
        """Return the candidates' logits."""
        node, last = logits_node(self._size), len(self._run.prompt) - 1
        if node not in self._reached:
            return Affine(self._run.logits(), {})
        inputs = self._input(node, last, "logits.norm")
        count = len(self._forward.claim.task.candidates)
        return self._with_constant(
            inputs, lambda one: self._forward.product("logits", one), self._forward.readout, count
        )

    def _with_constant(
        self,
        inputs: Affine,
        linear: Callable[[Vector], Vector],
        affine: Callable[[tuple[Vector, ...]], Vector],
        height: int,
    ) -> Affine:
        """Return an affine map: its linear part of the slopes, all of it of the constant."""
        image = inputs.each(linear)
        return Affine(total([affine((inputs.constant,))], height), image.slopes)

    def _map(self, name: str, inputs: Affine, height: int) -> Affine:
        return self._with_constant(
            inputs,
            lambda one: self._forward.product(name, one),
            lambda terms: self._forward.affine(name, terms, height),
            height,
        )

    def _input(self, node: Node, position: int, norm: str) -> Affine:
        """Return what a node reads: the sum of its sources and of what is added, after its norm."""
        sources = self._sources.get(node, [])
        changed = [source for source in sources if source in self._reached]
        constant = self._run.terms(node, position, frozenset(changed))
        terms = [
            Affine(total(constant, self._size.width), {}),
            *(self._output(one, position) for one in changed),
        ]
        is_here = self._place.node == node and not self._place.is_output
        if is_here or (self._place.node == EMBED and EMBED in sources):
            terms += [self._added[position]] if position in self._added else []
        return self._normed(norm, weighted([1] * len(terms), terms, self._size.width))

    def _normed(self, name: str, point: Affine) -> Affine:
        norm = self._size.norm
        if norm is None:
            return point
        if not point.slopes:
            return Affine(self._forward.normed(name, (point.constant,))[0], {})
        balanced = banded(self._ground, point, cast("Band", norm), name)
        stretched = balanced.each(lambda one: scaled(one, self._forward.whole(f"{name}.scale")))
        shift = self._forward.whole(f"{name}.shift")
        return Affine(total([stretched.constant, shift], self._size.width), stretched.slopes)

    def _output(self, node: Node, position: int) -> Affine:
        key = (node, position)
        if key not in self._outputs:
            plain = self._head(*key) if node.is_head else self._mlp(*key)
            is_here = self._place == Place(node, is_output=True) and position in self._added
            terms = [plain, self._added[position]] if is_here else [plain]
            self._outputs[key] = weighted([1] * len(terms), terms, self._size.width)
        return self._outputs[key]

    def _mlp(self, node: Node, position: int) -> Affine:
        name = f"mlp.{node.layer}"
        hidden = self._map(f"{name}.up", self._input(node, position, f"{name}.norm"), self._size.mlp_width)
        raised = rectified(self._ground, hidden, cast("Fraction", self._size.activation), name)
        return self._map(f"{name}.down", raised, self._size.width)

    def _head(self, node: Node, position: int) -> Affine:
        name = f"head.{node.layer}.{node.head}"
        row = self._row(node, position)
        is_fixed = not row.slopes
        weights = row.constant.fractions()
        keys = [key for key in range(position + 1) if weights[key] or not is_fixed]
        values = [self._projection(node, key, "value") for key in keys]
        require("products_are_linear", is_fixed or not any(value.slopes for value in values), name)
        width = self._size.head_width
        mixed = weighted([weights[key] for key in keys], values, width)
        moved = [
            Affine(
                vector([0] * width),
                {place: weighted([slope.fractions()[key] for key in keys], values, width).constant},
            )
            for place, slope in row.slopes.items()
        ]
        whole = weighted([1] * (1 + len(moved)), [mixed, *moved], width)
        return whole.each(lambda one: self._forward.product(f"{name}.output", one))

    def _row(self, node: Node, position: int) -> Affine:
        program = self._forward.claim.programs.get((node.layer, node.head))
        if program is not None:
            return Affine(from_fractions(program.row(self._run.prompt, position)), {})
        name = f"head {node.layer}.{node.head}"
        query = self._projection(node, position, "query")
        keys = [self._projection(node, key, "key") for key in range(position + 1)]
        is_linear = not query.slopes or not any(key.slopes for key in keys)
        require("scores_are_linear", is_linear, name)
        return nearest(self._ground, self._scores(query, keys), Fraction(1), name)

    def _scores(self, query: Affine, keys: Sequence[Affine]) -> Affine:
        """Return the scaled products of a query with keys, at most one of which depends on η."""
        scale = self._size.attention_scale
        places = sorted({*query.slopes, *(place for key in keys for place in key.slopes)})
        nothing = vector([0] * self._size.head_width)

        def products(place: int | None) -> list[Fraction]:
            if place is None:
                return [scale * dot(query.constant, key.constant) for key in keys]
            moved = query.slopes.get(place, nothing)
            return [
                scale * (dot(moved, key.constant) + dot(query.constant, key.slopes.get(place, nothing)))
                for key in keys
            ]

        slopes = {place: from_fractions(products(place)) for place in places}
        return Affine(
            from_fractions(products(None)), {k: slope for k, slope in slopes.items() if any(slope.numbers)}
        )

    def _projection(self, node: Node, position: int, role: str) -> Affine:
        inputs = self._input(node, position, f"attention.{node.layer}.norm")
        return self._map(f"head.{node.layer}.{node.head}.{role}", inputs, self._size.head_width)
