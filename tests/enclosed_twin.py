"""Enclosed numbers as slowly and plainly as the table of `docs/certificate.md` has them, and honest bundles.

A row is a pair: integers and a radius. Nothing here is shared with the engine or the checker; exp and erf are
mpmath's, with so many digits that no floor is in doubt.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import mpmath

from bundle_maker import ZERO, Bundle, Naive, Prover, earlier, every_edge, naive_projection, naive_row, reader

Row = tuple[list[int], int]
DIGITS = 400
A, C = Fraction(44715, 10**6), Fraction(7978845608028654, 10**16)


def times(one: Fraction, other: Fraction) -> Fraction:
    """Return a product."""
    return one * other


def rt(number: int) -> int:
    """Return the least integer whose square is at least a number."""
    root = math.isqrt(number)
    return root if root * root == number else root + 1


def length(numbers: Iterable[int]) -> int:
    """Return a Euclidean length, rounded up."""
    return rt(sum(one * one for one in numbers))


def real(number: Fraction) -> Any:
    """Return a rational as a number of mpmath."""
    return mpmath.mpf(number.numerator) / number.denominator


def floor_of(value: Any, p: int) -> int:
    """Return the floor of a number that is not near an integer."""
    away = abs(value - mpmath.nint(value))
    assert away > mpmath.mpf(10) ** -(DIGITS // 2 + p // 2) or value == mpmath.nint(value)
    return int(mpmath.floor(value))


def exponential(top: int, p: int) -> int:
    """Return ⌊2^p·exp(top/2^p)⌋."""
    if -top >> p > p:
        return 0
    with mpmath.workdps(DIGITS + p):
        return floor_of(mpmath.ldexp(mpmath.exp(mpmath.ldexp(top, -p)), p), p)


def gelu(form: str, top: int, p: int) -> int:
    """Return ⌊2^p·gelu(top/2^p)⌋.

    From |x|, or from 0, less than |x|·exp(-y) is missing, which is less than |x|·2^(-7y/5).
    """
    x = abs(Fraction(top, 2**p))
    y = 2 * C * (x + A * x**3) if form == "tanh" else x * x / 2
    if 7 * y > 5 * top.bit_length() + 5:
        return top - 1 if top > 0 else -1
    with mpmath.workdps(DIGITS + p):
        z = mpmath.ldexp(top, -p)
        if form == "tanh":
            value = z / (1 + mpmath.exp(-2 * real(C) * (z + real(A) * z**3)))
        else:
            value = z / 2 * mpmath.erfc(-z / mpmath.sqrt(2))
        return floor_of(mpmath.ldexp(value, p), p)


def softmax(scores: list[int], delta: int, p: int) -> tuple[list[int], int]:
    """Return weights and the sum of their distances."""
    raised = [exponential(one - max(scores), p) for one in scores]
    return [2**p * one // sum(raised) for one in raised], delta + 3 * len(scores)


def sparsemax(scores: list[int], delta: int, p: int) -> tuple[list[int], int]:
    """Return weights and the sum of their distances."""
    weights = naive_projection([Fraction(one, 2**p) for one in scores], Fraction(1))
    return [math.floor(2**p * one) for one in weights], len(scores) * delta + len(scores)


def layer_norm(row: Row, epsilon: Fraction, scale: list[Fraction], shift: list[Fraction], p: int) -> Row:
    """Return the norm with its scale and shift."""
    numbers, radius = row
    d = len(numbers)
    centred = [d * one - sum(numbers) for one in numbers]
    v = Fraction(sum(one * one for one in centred), d**3)
    s = math.isqrt(math.floor(v + 2 ** (2 * p) * epsilon))
    floor = math.isqrt(math.floor(2 ** (2 * p) * epsilon))
    least = max(s - math.ceil(Fraction(radius, math.isqrt(d))), floor)
    normed = [math.floor(Fraction(2**p * one, d * s)) for one in centred]
    r = math.ceil(Fraction(2**p * radius, least)) + rt(d) * (math.ceil(Fraction(2**p, s)) + 1)
    scaled = [math.floor(a * n + 2**p * b) for a, n, b in zip(scale, normed, shift, strict=True)]
    return scaled, math.ceil(max(map(abs, scale)) * r) + rt(d)


def of_tensor(numbers: list[Fraction], p: int) -> Row:
    """Return a row of a tensor."""
    is_exact = all((2**p * one).denominator == 1 for one in numbers)
    return [math.floor(2**p * one) for one in numbers], 0 if is_exact else rt(len(numbers))


def add(rows: list[Row], width: int) -> Row:
    """Return a sum."""
    return [sum(row[i] for row, _ in rows) for i in range(width)], sum(radius for _, radius in rows)


def mix(weights: list[Fraction], rows: list[Row], width: int) -> Row:
    """Return a mix with rational weights."""
    if not rows:
        return [0] * width, 0
    pairs = list(zip(weights, rows, strict=True))
    numbers = [math.floor(sum(c * row[i] for c, (row, _) in pairs)) for i in range(width)]
    return numbers, math.ceil(sum(abs(c) * radius for c, (_, radius) in pairs)) + rt(width)


def image(matrix: list[list[Fraction]], bias: list[Fraction] | None, row: Row, p: int) -> Row:
    """Return an affine map."""
    numbers, radius = row
    square = sum((one * one for line in matrix for one in line), Fraction(0))
    stretch = Fraction(rt(math.ceil(2**32 * square)), 2**16)
    shifts = bias or [Fraction(0)] * len(matrix)
    images = [
        math.floor(sum(w * m for w, m in zip(line, numbers, strict=True)) + 2**p * b)
        for line, b in zip(matrix, shifts, strict=True)
    ]
    return images, math.ceil(stretch * radius) + rt(len(matrix))


def rotation(row: Row, cosines: list[Fraction], sines: list[Fraction]) -> Row:
    """Return a rotated query or key."""
    numbers, radius = row
    half, found = len(cosines), list(numbers)
    for m in range(half):
        a, b = numbers[m], numbers[m + half]
        found[m] = math.floor(a * cosines[m] - b * sines[m])
        found[m + half] = math.floor(b * cosines[m] + a * sines[m])
    g = max(Fraction(1), *(c * c + s * s for c, s in zip(cosines, sines, strict=True)))
    return found, math.ceil(Fraction(rt(math.ceil(2**32 * g)), 2**16) * radius) + rt(2 * half)


class EnclosedNaive(Naive):
    """The enclosed meaning of a circuit, row by row."""

    def __init__(self, bundle: Bundle, edges: list[str], prompt: list[int], p: int, kept: Any = ()) -> None:
        super().__init__(bundle, edges, prompt, kept)
        self.p, self.rows = p, dict[tuple[str, int], Row]()
        self.end: Row | None = None

    def enclosed(self) -> Row:
        """Return the logits of the candidates."""
        return self.read_out(self.residual())

    def residual(self) -> Row:
        """Return the input of the logits, before their norm."""
        if self.end is None:
            self.end = self.total("logits", self.decided())
        return self.end

    def read_out(self, row: Row) -> Row:
        """Return the logits of a final residual."""
        bias = self.logit_biases() if self.size["logit_bias"] else None
        return image(self.output_rows(), bias, self.normed(row, "logits.norm"), self.p)

    def output_rows(self) -> list[list[Fraction]]:
        """Return the rows of the output embedding, a candidate's each."""
        table = self.matrix("embed.token" if self.size["tied"] else "logits.weight")
        return [table[token] for token in self.candidates]

    def logit_biases(self) -> list[Fraction]:
        """Return the biases of the candidates; zeros where there are none."""
        bias = self.bias("logits.bias", self.size.get("outputs", self.size["vocabulary"]))
        return [bias[token] for token in self.candidates]

    def perturbed(self, eta: list[Fraction]) -> Row:
        """Return the logits with something added before the last norm."""
        numbers, radius = self.residual()
        moved = [math.floor(m + 2**self.p * one) for m, one in zip(numbers, eta, strict=True)]
        return self.read_out((moved, radius + rt(len(moved))))

    def left(self, y: int, t: int, epsilon: Fraction) -> Fraction:
        """Return what is positive if no perturbation of at most ε takes the lead of y over t."""
        (numbers, radius), p, d = self.residual(), self.p, self.size["width"]
        scale, shift = self.bias("logits.norm.scale", 0), self.bias("logits.norm.shift", 0)
        rows, biases = self.output_rows(), self.logit_biases()
        u = [a - b for a, b in zip(rows[y], rows[t], strict=True)]
        w = [a * one - sum(map(times, scale, u), ZERO) / d for a, one in zip(scale, u, strict=True)]
        c = sum(map(times, shift, u), ZERO) + biases[y] - biases[t]
        floor = 2 ** (2 * p) * Fraction(self.size["norm"]["epsilon"])
        mean = Fraction(sum(numbers), d)
        s = math.isqrt(math.floor(sum((one - mean) ** 2 for one in numbers) / d + floor))
        far = math.ceil(Fraction(radius, math.isqrt(d))) + math.ceil(2**p * epsilon)
        tau = max(s - far, math.isqrt(math.floor(floor))) if c >= 0 else s + 1 + far
        stretch = Fraction(rt(math.ceil(2**32 * sum(one * one for one in w))), 2**16)
        lead = sum(map(times, w, map(Fraction, numbers)), ZERO) - stretch * radius
        return lead - 2**p * epsilon * sum(map(abs, w)) + c * tau

    def linear(self, name: str, row: Row) -> Row:
        """Return an affine map of the model."""
        rows = self.matrix(f"{name}.weight")
        has_bias = f"{name}.bias" in self.tensors
        return image(rows, self.bias(f"{name}.bias", 0) if has_bias else None, row, self.p)

    def input(self, port: str, norm: str, position: int) -> Row:
        """Return what is read at a port."""
        return self.normed(self.total(port, position), norm)

    def normed(self, row: Row, norm: str) -> Row:
        """Return a row after a norm."""
        if self.size["norm"]["kind"] == "none":
            return row
        scale, shift = self.bias(f"{norm}.scale", 0), self.bias(f"{norm}.shift", 0)
        return layer_norm(row, Fraction(self.size["norm"]["epsilon"]), scale, shift, self.p)

    def total(self, port: str, position: int) -> Row:
        """Return the sum that is read at a port, before its norm."""
        width = self.size["width"]
        sources = [source for source, target in self.pairs if target in (port, reader(port))]
        terms = [self.put_out(source, position) for source in sources]
        if self.ablation != "zero":
            cut = [source for source in earlier(self.size, port) if source not in sources]
            terms += [self.carried(source, position) for source in cut]
            sources = earlier(self.size, port)
        layers = {source[5:].split(".")[0] for source in sources if source.startswith("head")}
        layers |= {layer for one, layer in self.kept if one in (port, reader(port))}
        names = [f"attention.{layer}.output.bias" for layer in layers if self.size["biases"]]
        terms += [of_tensor(self.bias(name, width), self.p) for name in names]
        return add(terms, width)

    def carried(self, source: str, position: int) -> Row:
        """Return what a cut edge carries."""
        ablation, every = self.ablation, every_edge(self.size)
        if ablation["kind"] == "counterfactual":
            (partner,) = [other for one, other in ablation["pairs"] if one == self.prompt]
            places = [(partner, position)]
        elif ablation["over"] == "all":
            places = [(one, place) for one in ablation["prompts"] for place in range(len(one))]
        else:
            places = [(one, position) for one in ablation["prompts"] if len(one) == len(self.prompt)]
        found = [EnclosedNaive(self.bundle, every, one, self.p).put_out(source, at) for one, at in places]
        return mix([Fraction(1, len(places))] * len(places), found, self.size["width"])

    def put_out(self, node: str, position: int) -> Row:
        """Return what a node puts out."""
        if (node, position) not in self.rows:
            self.rows[node, position] = self.made(node, position)
        return self.rows[node, position]

    def made(self, node: str, position: int) -> Row:
        """Return what a node computes."""
        width = self.size["width"]
        if node == "embed":
            terms = [of_tensor(self.matrix("embed.token")[self.prompt[position]], self.p)]
            if "rotary" not in self.size:
                terms.append(of_tensor(self.matrix("embed.position")[position], self.p))
            return add(terms, width)
        name = node.replace(" ", ".")
        if node.startswith("mlp"):
            hidden = self.linear(f"{name}.up", self.input(node, f"{name}.norm", position))
            return self.linear(f"{name}.down", self.bent(hidden))
        mixed = self.mixed(node, name, position)
        return image(self.matrix(f"{name}.output.weight"), None, mixed, self.p)

    def bent(self, row: Row) -> Row:
        """Return the activation."""
        numbers, radius = row
        kind, rounding = self.size["activation"]["kind"], rt(len(numbers))
        if kind == "gelu":
            form = self.size["activation"]["form"]
            wider = 2 * radius if form == "tanh" else math.ceil(Fraction(5 * radius, 4))
            return [gelu(form, one, self.p) for one in numbers], wider + rounding
        slope = Fraction(self.size["activation"].get("slope", 0))
        bent = [one if one > 0 else math.floor(slope * one) for one in numbers]
        return bent, radius + rounding * (kind != "relu")

    def mixed(self, node: str, name: str, position: int) -> Row:
        """Return the values of a head, mixed."""
        place, width = node.removeprefix("head "), self.size["head_width"]
        norm = f"attention.{place.split('.')[0]}.norm"

        def projected(role: str, key: int) -> Row:
            return self.linear(f"{name}.{role}", self.input(f"{node} {role}", norm, key))

        if place in self.programs:
            row = naive_row(self.programs[place], self.prompt, position)
            keys = [key for key, weight in enumerate(row) if weight]
            return mix([row[key] for key in keys], [projected("value", key) for key in keys], width)
        turn = self.rotated if "rotary" in self.size else lambda row, _: row
        query = turn(projected("query", position), position)
        keys = [turn(projected("key", key), key) for key in range(position + 1)]
        weights, rho = self.shares(query, keys)
        values = [projected("value", key) for key in range(position + 1)]
        pairs = list(zip(weights, values, strict=True))
        numbers = [sum(a * row[i] for a, (row, _) in pairs) // 2**self.p for i in range(width)]
        far = math.ceil(Fraction(rho * max(length(row) for row, _ in values), 2**self.p))
        return numbers, far + max(radius for _, radius in values) + rt(width)

    def rotated(self, row: Row, position: int) -> Row:
        """Return a row rotated by its position."""
        return rotation(row, self.matrix("rotary.cos")[position], self.matrix("rotary.sin")[position])

    def shares(self, query: Row, keys: list[Row]) -> tuple[list[int], int]:
        """Return the weights of keys."""
        scale, unit = Fraction(self.size["attention_scale"]), 2**self.p
        scores, deltas = [], []
        for key, radius in keys:
            dot = sum(a * b for a, b in zip(query[0], key, strict=True))
            scores.append(math.floor(scale * dot / unit))
            far = length(query[0]) * radius + length(key) * query[1] + query[1] * radius
            deltas.append(math.ceil(scale * far / unit) + 1)
        share = softmax if self.size["attention"] == "softmax" else sparsemax
        return share(scores, max(deltas), self.p)


def leader(row: Row) -> int | None:
    """Return the place of the candidate whose decision is known."""
    numbers, radius = row
    for y, one in enumerate(numbers):
        if all(one - other > 2 * radius for t, other in enumerate(numbers) if t != y):
            return y
    return None


class EnclosedProver(Prover):
    """Writes honest answers about what the twin knows."""

    def __init__(self, bundle: Bundle, p: int = 64) -> None:
        super().__init__(bundle)
        self.p, self.found = p, dict[tuple[str, ...], Row]()
        self.naives: dict[int, EnclosedNaive] = {}
        self.claim["arithmetic"] = "enclosed"

    def row(self, prompt: int, edges: list[str] | None = None) -> Row:
        """Return the enclosed logits."""
        kept = self.edges if edges is None else edges
        key = (str(prompt), *kept)
        if key not in self.found:
            self.found[key] = EnclosedNaive(self.bundle, kept, self.prompts[prompt], self.p).enclosed()
        return self.found[key]

    def naive(self, prompt: int) -> EnclosedNaive:
        """Return the circuit on a prompt."""
        if prompt not in self.naives:
            self.naives[prompt] = EnclosedNaive(self.bundle, self.edges, self.prompts[prompt], self.p)
        return self.naives[prompt]

    def fold(self, prompt: int, edges: list[str] | None = None) -> int:
        """Return the place of the known candidate; of none, the first."""
        return leader(self.row(prompt, edges)) or 0

    def decision(self, prompt: int, edges: list[str] | None = None) -> set[int]:
        """Return the known candidate, or all of them."""
        found, candidates = leader(self.row(prompt, edges)), self.claim["task"]["candidates"]
        return set(candidates) if found is None else {candidates[found]}

    def is_needed(self, prompt: int, without: list[str]) -> bool:
        """Say whether two known decisions differ."""
        both = leader(self.row(prompt)), leader(self.row(prompt, without))
        return None not in both and both[0] != both[1]

    def answer(self, entry: dict[str, Any], verdict: str, evidence: Any) -> None:
        """Add a property with its answer, `fold` being called `decided`."""
        super().answer(entry, verdict, decided(evidence))
        self.bundle.certificate["precision"] = self.p


def decided(evidence: Any) -> Any:
    """Return evidence about enclosures made of evidence about folds."""
    if isinstance(evidence, list):
        return [decided(one) for one in evidence]
    if isinstance(evidence, dict):
        kept = {key: one for key, one in evidence.items() if key != "radius"}
        return {"decided" if key == "fold" else key: decided(one) for key, one in kept.items()}
    return evidence
