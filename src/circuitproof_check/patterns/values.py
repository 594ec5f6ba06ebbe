"""What tokens contribute to logits: maps are pulled back from the logits, so a token costs few products."""

from collections import OrderedDict
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from operator import mul

from circuitproof_check.architecture import EMBED, Edges, Node, embedding
from circuitproof_check.exact import Vector, common_multiple, longest, reckon, vector
from circuitproof_check.forward import Forward
from circuitproof_check.work import NUMBER, STEP, paid, spend, spend_numbers
from circuitproof_check.work import key as bytes_of
from circuitproof_check.work import weight as weight_of

from .rows import UnsettledError

TokenAtPosition = tuple[int | None, int | None]
"""A token and its position; one that is left out contributes nothing."""
LogitRow = tuple[Fraction, ...]
"""A number per candidate."""
_KEPT = 1280
"""So many images of tokens and positions are kept: enough for every position of a long context."""


class Values:
    """One circuit's sources of the logits as functions of tokens and positions."""

    def __init__(self, forward: Forward, edges: Edges) -> None:
        self.forward, self._size = forward, forward.size
        self.sources = forward.circuit(edges).sources
        self.coordinates: dict[Node, frozenset[tuple[int, int] | None]] = {}
        self._known: dict[tuple[int, TokenAtPosition | None, TokenAtPosition | None], LogitRow] = {}
        self._groups: dict[bytes, tuple[Node, ...]] = {}
        self._images: OrderedDict[tuple[str, str, int], Vector] = OrderedDict()
        rows = [forward.output_row(token) for token in forward.claim.task.candidates]
        self._readout = _Covectors(self, rows)

    def group(self, sources: Sequence[Node]) -> tuple[Node, ...]:
        """Return sources, for equal ones the same object, which is kept: its identity stands for them."""
        spend(NUMBER * (1 + len(sources)))
        return self._groups.setdefault(bytes_of([*chain.from_iterable(sources)]), tuple(sources))

    def contribution(
        self, sources: tuple[Node, ...], here: TokenAtPosition | None, key: TokenAtPosition | None
    ) -> LogitRow:
        """Return what a group of sources of the logits contributes; a head without a key attends nowhere."""
        asked = (id(sources), here, key)
        spend(NUMBER + STEP * len(sources))
        if asked not in self._known:
            self._known[asked] = _sum([self._readout.value(source, here, key) for source in sources])
        return self._known[asked]

    def bias(self, layers: Sequence[int]) -> LogitRow:
        """Return what shared biases of layers and the biases of the logits contribute."""
        names = [f"attention.{layer}.output.bias" for layer in (layers if self._size.biases else ())]
        rows = [self._readout.product(self.forward.whole(name)) for name in names]
        candidates = self.forward.claim.task.candidates
        if self._size.logit_bias:
            rows.append(tuple(self.forward.row("logits.bias", t).fractions()[0] for t in candidates))
        return _sum([(Fraction(0),) * len(candidates), *rows])

    def hidden(
        self, node: Node, here: TokenAtPosition | None, key: TokenAtPosition | None
    ) -> tuple[list[int], int]:
        """Return the hidden numbers of an MLP over one denominator."""
        name = f"mlp.{node.layer}.up"
        spend(2 * NUMBER * (1 + len(self.sources.get(node, []))))
        parts = [self.forward.whole(f"{name}.bias")] if self._size.biases else []
        for source in self.sources.get(node, []):
            if source == EMBED and here is not None:
                parts += [self._image(name, table, row) for table, row in embedding(self._size, *here)]
            elif source != EMBED:
                parts.append(self.forward.product(name, self._vector(source, here, key)))
        layers = sorted({source.layer for source in self.sources.get(node, []) if source.is_head})
        if self._size.biases:
            shared = [self.forward.whole(f"attention.{layer}.output.bias") for layer in layers]
            parts += [self.forward.image(name, bias) for bias in shared]
        return self._bent(parts)

    def _bent(self, parts: list[Vector]) -> tuple[list[int], int]:
        slope = self._size.activation
        if not isinstance(slope, Fraction):
            raise UnsettledError(f"{slope} has no exact value")
        top, bottom = slope.as_integer_ratio()
        below = common_multiple([part.denominator for part in paid(parts)])
        bits = max((part.bits for part in parts), default=0) + below.bit_length() + bottom.bit_length()
        spend_numbers(self._size.mlp_width * (1 + len(parts)), bits)
        numbers = [0] * self._size.mlp_width
        for part in parts:
            factor = below // part.denominator
            numbers = [a + factor * b for a, b in zip(numbers, part.numbers, strict=True)]
        return [number * (bottom if number > 0 else top) for number in numbers], below * bottom

    def _vector(self, node: Node, here: TokenAtPosition | None, key: TokenAtPosition | None) -> Vector:
        """Return the whole output of an MLP or a head."""
        if not node.is_head:
            bent = (vector(*self.hidden(node, here, key)),)
            return self.forward.affine(f"mlp.{node.layer}.down", bent, self._size.width)
        if key is None:
            return vector([0] * self._size.width)
        name, terms = f"head.{node.layer}.{node.head}", list[Vector]()
        for source in self.sources.get(node, []):
            if source == EMBED:
                terms += [self.forward.row(table, row) for table, row in embedding(self._size, *key)]
            else:
                terms.append(self._vector(source, key, None))
        mixed = self.forward.affine(f"{name}.value", tuple(terms), self._size.head_width)
        return self.forward.product(f"{name}.output", mixed)

    def _image(self, name: str, table: str, row: int) -> Vector:
        key = (name, table, row)
        if key not in self._images:
            self._images[key] = self.forward.product(name, self.forward.row(table, row))
            if len(self._images) > _KEPT:
                self._images.popitem(last=False)
        self._images.move_to_end(key)
        return self._images[key]


class _Covectors:
    """Rows, one per candidate, that are multiplied with outputs of nodes."""

    def __init__(self, values: Values, rows: Sequence[Vector]) -> None:
        self._values, self._rows = values, rows
        self._products: dict[tuple[str, int], LogitRow] = {}
        self._inner: dict[Node, tuple[_Covectors, LogitRow]] = {}

    def value(self, node: Node, here: TokenAtPosition | None, key: TokenAtPosition | None) -> LogitRow:
        """Return the products with what a node puts out."""
        if node == EMBED:
            places = embedding(self._values.forward.size, *(here or (None, None)))
            rows = [self._of_row(table, row) for table, row in places]
            return _sum([self._nothing(), *rows])
        if not node.is_head:
            inner, shift = self._through(node, f"mlp.{node.layer}.down")
            numbers, below = self._values.hidden(node, here, key)
            return _sum([inner.products(numbers, below), shift])
        if key is None:
            return self._nothing()
        inner, shift = self._through_head(node)
        sources = self._values.sources.get(node, [])
        return _sum([shift, *(inner.value(source, key, None) for source in sources)])

    def product(self, point: Vector) -> LogitRow:
        """Return the products with a vector."""
        return self.products(list(point.numbers), point.denominator)

    def products(self, numbers: list[int], below: int) -> LogitRow:
        """Return the products with numbers over a denominator."""
        bits = longest(numbers) + below.bit_length()
        each = [row.bits * (1 + bits // 900) for row in paid(self._rows)]
        spend(sum(2 * NUMBER + len(numbers) * (3 + one // 100) + weight_of(one + bits) for one in each))
        return tuple(Fraction(sum(map(mul, r.numbers, numbers)), r.denominator * below) for r in self._rows)

    def _of_row(self, table: str, row: int) -> LogitRow:
        if (table, row) not in self._products:
            self._products[table, row] = self.product(self._values.forward.row(table, row))
        return self._products[table, row]

    def _through(self, node: Node, name: str) -> "tuple[_Covectors, LogitRow]":
        """Return the rows before an affine map, and what its bias adds."""
        if node not in self._inner:
            forward = self._values.forward
            weight = forward.weights.whole(f"{name}.weight")
            before = _Covectors(self._values, [_pulled(row, weight) for row in self._rows])
            has_bias = forward.size.biases and not name.endswith(".output")
            shift = self.product(forward.whole(f"{name}.bias")) if has_bias else self._nothing()
            self._inner[node] = before, shift
        return self._inner[node]

    def _through_head(self, node: Node) -> "tuple[_Covectors, LogitRow]":
        name = f"head.{node.layer}.{node.head}"
        middle, _ = self._through(node, f"{name}.output")
        return middle._through(node, f"{name}.value")  # noqa: SLF001  # of its own kind

    def _nothing(self) -> LogitRow:
        spend(len(self._rows))
        return (Fraction(0),) * len(self._rows)


def _sum(rows: Sequence[LogitRow]) -> LogitRow:
    """Return the sum of rows, of which there is one at least."""
    reckon(*rows)
    return tuple(sum(column, Fraction(0)) for column in zip(*rows, strict=True))


def _pulled(row: Vector, weight: Vector) -> Vector:
    """Return a row times a matrix."""
    width = len(weight.numbers) // len(row.numbers)
    spend(len(weight.numbers) * (3 + row.bits * (1 + weight.bits // 900) // 100))
    numbers = [0] * width
    for place, factor in enumerate(row.numbers):
        entries = weight.numbers[place * width : (place + 1) * width]
        numbers = [a + factor * b for a, b in zip(numbers, entries, strict=True)]
    return vector(numbers, row.denominator * weight.denominator)
