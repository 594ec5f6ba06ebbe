"""The least margins over all prompts of a region, found from the edges of the circuit and the rows in it.

What a source of the logits depends on is the last position, or the keys of a head's row: its coordinates. In
a region the logits are a constant, a sum with one term per token, and rows whose sum of weights varies.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from circuitproof_check.architecture import EMBED, Node, logits_node
from circuitproof_check.exact import key_of, reckon
from circuitproof_check.work import NUMBER, OBJECT, STEP, key, paid, spend

from .rows import UnsettledError
from .runs import Head, Runs, Step
from .values import LogitRow, TokenAtPosition, Values

Coordinate = Head | None
"""The keys of a head, or the last position."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Sources that depend on one coordinate, and which share of them a token has; None: the row varies.

    Terms are told apart by identity.
    """

    sources: tuple[Node, ...]
    coordinate: Coordinate
    head: int
    share: Callable[[Step], Fraction | int] | None
    is_separable: bool


Active = list[tuple[Term, Fraction | int]]
Lead = Callable[[LogitRow], Fraction]
"""What a candidate has more than another."""


class Cell:
    """A region and a circuit."""

    def __init__(self, values: Values, runs: Runs) -> None:
        self._values, self._runs = values, runs
        self._here = _only_end(runs)
        self._found: dict[int, tuple[Fraction, ...]] = {}
        self._prices: dict[object, Fraction] = {}
        self._constant = [values.bias(self._layers())]
        self._terms: list[Term] = []
        for coordinates, sources in self._groups():
            self._enter(coordinates, values.group(sources))

    def margins(self, winner: int) -> tuple[Fraction, ...]:
        """Return the least lead of a candidate, by its place, over each other."""
        if winner not in self._found:
            others = [place for place in range(len(self._constant[0])) if place != winner]
            self._found[winner] = tuple(self._least(winner, other) for other in others)
        return self._found[winner]

    def _least(self, winner: int, other: int) -> Fraction:
        def lead(row: LogitRow) -> Fraction:
            return row[winner] - row[other]

        self._prices.clear()
        summed = [term for term in self._terms if term.share is not None]
        found = self._runs.least(lambda k, step: self._price(k, step, list(_shares(summed, step)), lead))
        assert found is not None  # noqa: S101  # a region of a leaf has prompts
        varying = [self._mean(term, lead) for term in self._terms if term.share is None]
        return sum((lead(row) for row in self._constant), Fraction(found[0])) + sum(varying)

    def _mean(self, term: Term, lead: Lead) -> Fraction:
        """Return the least value of a row whose sum varies: the value of a path, until none is below it."""
        runs, place = self._runs, term.head
        is_self = runs.rows[place].is_self

        def empty(position: int, step: Step) -> Fraction | None:
            active: Active = [(term, 1)] if is_self and step.is_last else []
            return None if step.weights[place] else self._price(position, step, active, lead)

        def excess(position: int, step: Step) -> Fraction | int:
            weight = step.weights[place]
            reckon([weight, bound])
            price = self._price(position, step, [(term, 1)], lead) - bound if weight else 0
            return weight * price

        without, bound = runs.least(empty), Fraction(0)
        found = runs.least(excess, lambda step: step.weights[place])
        while found is not None and found[0]:
            bound += Fraction(found[0]) / Fraction(found[1])
            found = runs.least(excess, lambda step: step.weights[place])
        return min([bound] * (found is not None) + [Fraction(one[0]) for one in [without] if one is not None])

    def _price(
        self,
        position: int,
        step: Step,
        active: Active,
        lead: Lead,
    ) -> Fraction:
        """Return the least of what the tokens of a step contribute."""
        spend(NUMBER + OBJECT * len(active))
        if not active:
            return Fraction(0)
        names = tuple((term, key_of(Fraction(factor))) for term, factor in active)
        if (names, step.atom, position) not in self._prices:
            self._prices[names, step.atom, position] = self._found_price(position, step, active, lead)
        return self._prices[names, step.atom, position]

    def _found_price(self, position: int, step: Step, active: Active, lead: Lead) -> Fraction:
        """Find the least; where tokens and positions add up, that of the tokens is found once."""

        def total(place: TokenAtPosition) -> Fraction:
            spend(2 * OBJECT * len(active))
            parts = [factor * lead(self._at(term, place)) for term, factor in active]
            reckon(parts)
            return sum(parts, Fraction(0))

        members = self._runs.atoms[step.atom]
        if not all(term.is_separable for term, _ in active):
            return min(total((token, position)) for token in members)
        names = tuple((term, key_of(Fraction(factor))) for term, factor in active)
        if (names, step.atom) not in self._prices:
            self._prices[names, step.atom] = min(total((token, None)) for token in members)
        return self._prices[names, step.atom] + total((None, position)) - total((None, None))

    def _at(self, term: Term, place: TokenAtPosition) -> LogitRow:
        here, key = (self._here, place) if term.coordinate else (place, None)
        return self._values.contribution(term.sources, here, key)

    def _is_separable(self, sources: tuple[Node, ...]) -> bool:
        heads = [source for source in paid(sources) if source.is_head]
        reads = {read for head in heads for read in paid(self._values.sources.get(head, []))}
        bends = [read for read in reads if read != EMBED and coordinates(self._values, read)]
        return all(source.is_head or source == EMBED for source in sources) and not bends

    def _groups(self) -> Iterable[tuple[frozenset[Coordinate], list[Node]]]:
        """Return the sources of the logits by coordinates."""
        size = self._values.forward.size
        groups: dict[bytes, tuple[frozenset[Coordinate], list[Node]]] = {}
        for source in paid(self._values.sources.get(logits_node(size), []), NUMBER):
            found = coordinates(self._values, source)
            heads = sorted(one or (-1, -1) for one in paid(found, NUMBER))
            groups.setdefault(key([*chain.from_iterable(heads)]), (found, []))[1].append(source)
        return groups.values()

    def _layers(self) -> list[int]:
        sources = self._values.sources.get(logits_node(self._values.forward.size), [])
        return sorted({source.layer for source in sources if source.is_head})

    def _enter(self, coordinates: frozenset[Coordinate], sources: tuple[Node, ...]) -> None:
        """Enter sources with the same coordinates: as constants, as a term of the sum, or as a row."""
        left = [one for one in coordinates if one is not None or self._here is None]
        if len(left) > 1:
            raise UnsettledError("an MLP bends several things together")
        if not left:
            self._constant.append(self._values.contribution(sources, self._here, None))
        elif left[0] is None:
            self._add(sources, None, 0, _is_last)
        else:
            self._enter_row(left[0], sources)

    def _enter_row(self, head: Head, sources: tuple[Node, ...]) -> None:
        place = self._runs.heads.index(head)
        least, most = self._range(lambda step: step.weights[place])
        if not most:
            if self._runs.rows[place].is_self:
                self._add(sources, head, place, _is_last)
            else:
                self._constant.append(self._values.contribution(sources, self._here, None))
        elif self._range(lambda step: Fraction(step.weights[place] > 0)) == (1, 1):
            self._add(sources, head, place, lambda step: int(step.weights[place] > 0))
        elif not all(source.is_head for source in sources):
            raise UnsettledError(f"an MLP bends what head {head} mixes")
        elif least == most:
            self._add(sources, head, place, lambda step: step.weights[place] / most)
        else:
            self._add(sources, head, place, None)

    def _add(
        self,
        sources: tuple[Node, ...],
        coordinate: Coordinate,
        head: int,
        share: Callable[[Step], Fraction | int] | None,
    ) -> None:
        self._terms.append(Term(sources, coordinate, head, share, self._is_separable(sources)))

    def _range(self, number: Callable[[Step], Fraction]) -> tuple[Fraction, Fraction]:
        least = self._runs.least(lambda _, step: number(step))
        most = self._runs.least(lambda _, step: -number(step))
        assert least is not None and most is not None  # noqa: S101, PT018  # the same
        return Fraction(least[0]), -Fraction(most[0])


def coordinates(values: Values, node: Node) -> frozenset[Coordinate]:
    """Return what the output of a node at the last position depends on."""
    if node not in values.coordinates:
        values.coordinates[node] = _coordinates(values, node)
    return values.coordinates[node]


def _coordinates(values: Values, node: Node) -> frozenset[Coordinate]:
    if node == EMBED:
        return frozenset({None})
    sources = paid(values.sources.get(node, []), NUMBER)
    read = [coordinates(values, source) for source in sources]
    spend(sum(NUMBER + STEP * len(one) for one in read))
    joined = frozenset[Coordinate]().union(*read)
    if not node.is_head:
        return joined
    head = (node.layer, node.head)
    if head not in values.forward.claim.programs:
        raise UnsettledError(f"head {head} is neural")
    if any(one is not None for one in joined):
        raise UnsettledError(f"head {head} reads another head's row")
    return frozenset({head})


def _shares(terms: list[Term], step: Step) -> Iterator[tuple[Term, Fraction | int]]:
    for term in paid(terms, OBJECT):
        if term.share is not None and (share := term.share(step)):
            yield term, share


def _is_last(step: Step) -> int:
    return int(step.is_last)


def _only_end(runs: Runs) -> TokenAtPosition | None:
    """Return the last token and position if all prompts have the same."""
    ends = {(position, step.atom) for position, step in runs.steps() if step.is_last}
    position, atom = min(ends)
    return (runs.atoms[atom][0], position) if len(ends) == len(runs.atoms[atom]) == 1 else None
