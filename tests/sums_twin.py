"""Least sums over prompts of a pattern as slowly and plainly as `docs/certificate.md` has them.

Nothing here is shared with the engine or the checker: rows are the plain ones of `enclosed_twin`, exp is
mpmath's, pairs are those of listed prompts, and a least is taken over listed prompts.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from bundle_maker import Bundle
from enclosed_twin import EnclosedNaive, Row, add, exponential, image, length, of_tensor

Prompt = tuple[int, ...]
Pair = tuple[int, int]
Box = list[tuple[int, int]]
CUT = 16


class SumsTwin:
    """What tokens bring to the logits of a circuit, for the prompts of a pattern, all of them listed."""

    def __init__(self, bundle: Bundle, edges: list[str], prompts: Sequence[Prompt], p: int) -> None:
        self.bundle, self.edges, self.prompts, self.p = bundle, edges, list(prompts), p
        pairs = [edge.split(" -> ") for edge in edges]
        self.kept = [source for source, target in pairs if target == "logits"]
        self.heads = [source for source in self.kept if source.startswith("head")]
        self.candidates = len(bundle.claim["task"]["candidates"])
        self.row, self.base = cache(self._row), cache(self._base)
        self.table, self.contribution = cache(self._table), cache(self._contribution)

    def naive(self, pair: Pair) -> EnclosedNaive:
        """Return the circuit on some prompt that has a token at a position."""
        token, position = pair
        return EnclosedNaive(self.bundle, self.edges, [token] * (position + 1), self.p)

    def _row(self, head: str, role: str, pair: Pair) -> Row:
        naive, position = self.naive(pair), pair[1]
        read = naive.total(f"{head} {role}", position)
        found = naive.linear(f"{head.replace(' ', '.')}.{role}", read)
        is_turned = "rotary" in naive.size and role != "value"
        return naive.rotated(found, position) if is_turned else found

    def _contribution(self, head: str, pair: Pair) -> Row:
        naive, name = self.naive(pair), head.replace(" ", ".")
        out = image(naive.matrix(f"{name}.output.weight"), None, self.row(head, "value", pair), self.p)
        return image(naive.output_rows(), None, out, self.p)

    def _base(self, pair: Pair) -> Row:
        naive, position = self.naive(pair), pair[1]
        terms = [naive.put_out(source, position) for source in self.kept if source not in self.heads]
        layers = {head[5:].split(".")[0] for head in self.heads if naive.size["biases"]}
        width = naive.size["width"]
        biases = [naive.bias(f"attention.{layer}.output.bias", width) for layer in layers]
        terms += [of_tensor(bias, self.p) for bias in biases]
        bias = naive.logit_biases() if naive.size["logit_bias"] else None
        return image(naive.output_rows(), bias, add(terms, width), self.p)

    def score(self, head: str, end: Pair, pair: Pair) -> tuple[int, int]:
        """Return a score and how far it may be off."""
        scale, unit = Fraction(self.bundle.claim["architecture"]["attention_scale"]), 2**self.p
        (query, far), (key, off) = self.row(head, "query", end), self.row(head, "key", pair)
        product = sum(a * b for a, b in zip(query, key, strict=True))
        distance = length(query) * off + length(key) * far + far * off
        return math.floor(scale * product / unit), math.ceil(scale * distance / unit) + 1

    def _table(self, head: str, n: int, q: int) -> dict[Pair, tuple[int, int, int]]:
        """Return E and the integers around each exponential, for all pairs of the pattern."""
        alike = [prompt for prompt in self.prompts if len(prompt) == n and prompt[-1] == q]
        pairs = {(token, place) for prompt in alike for place, token in enumerate(prompt)}
        scores = {pair: self.score(head, (q, n - 1), pair) for pair in pairs}
        largest = max(score for score, _ in scores.values())
        span, unit = largest - min(score for score, _ in scores.values()), 2**self.p
        guard = min(1024, 32 * math.ceil(Fraction(3 * span, 2 ** (self.p + 6))))
        found: dict[Pair, tuple[int, int, int]] = {}
        for pair, (score, delta) in scores.items():
            assert delta <= unit, "the precision is too small"
            whole = exponential((score - largest) * 2**guard, self.p + guard)
            least = whole - math.ceil(Fraction(whole * delta, unit))
            found[pair] = whole, least, whole + 1 + math.ceil(Fraction(2 * (whole + 1) * delta, unit))
        return found

    def lead(self, q: int, n: int, y: int, t: int) -> int:
        """Return D."""
        numbers, radius = self.base((q, n - 1))
        return numbers[y] - numbers[t] - 2 * radius

    def ends(self, head: str, pair: Pair, y: int, t: int) -> tuple[int, int]:
        """Return what a token adds at least and at most."""
        numbers, radius = self.contribution(head, pair)
        return numbers[y] - numbers[t] - 2 * radius, numbers[y] - numbers[t] + 2 * radius

    def box(self, prompts: Sequence[Prompt], y: int, t: int) -> Box:
        """Return the first box of prompts of one length and end."""
        pairs = {(token, place) for prompt in prompts for place, token in enumerate(prompt)}
        every = [[self.ends(head, pair, y, t) for pair in pairs] for head in self.heads]
        return [(min(low for low, _ in one), max(high for _, high in one)) for one in every]

    def least(self, prompts: Sequence[Prompt], yt: tuple[int, int], box: Box, weights: list[int]) -> int:
        """Return the least sum over prompts of one length and end."""
        n, q = len(prompts[0]), prompts[0][-1]
        lead, tables = self.lead(q, n, *yt), [self.table(head, n, q) for head in self.heads]
        pairs = {(token, place) for prompt in prompts for place, token in enumerate(prompt)}
        sizes = [max(table[pair][0] for pair in pairs).bit_length() for table in tables]
        w = dict.fromkeys(pairs, 0)
        for place, head in enumerate(self.heads):
            (a, b), back, front = box[place], weights[2 * place + 1], weights[2 * place]
            u = min(b, -lead - sum(low for other, (low, _) in enumerate(box) if other != place))
            for pair in pairs:
                low, high = self.ends(head, pair, *yt)
                f = (front - back) * (low if front >= back else high) - front * u + back * a
                _, e0, e1 = tables[place][pair]
                w[pair] += 2 ** (max(sizes) - sizes[place]) * (e0 * f if f >= 0 else e1 * f)
        return min(sum(w[token, place] for place, token in enumerate(prompt)) for prompt in prompts)

    def closes(
        self, prompts: Sequence[Prompt], yt: tuple[int, int], tree: Any, box: Box | None = None
    ) -> bool:
        """Say whether a tree shows a lead on prompts of one length and end."""
        box = self.box(prompts, *yt) if box is None else box
        if isinstance(tree, list):
            lead = self.lead(prompts[0][-1], len(prompts[0]), *yt)
            return lead + sum(low for low, _ in box) > 0 or (
                bool(box) and self.least(prompts, yt, box, tree) > 0
            )
        place = self.heads.index(f"head {tree['head']}")
        bounds, (a, b) = [s * 2 ** (self.p - CUT) for s in tree["at"]], box[place]
        for part, low, high in zip(tree["parts"], [a, *bounds], [*bounds, b], strict=True):
            inner = [*box[:place], (max(a, low), min(b, high)), *box[place + 1 :]]
            if not self.closes(prompts, yt, part, inner):
                return False
        return True

    def usual(self) -> list[int]:
        """Return the weights of a leaf that names none."""
        return [1, 0] * len(self.heads)

    def holds(self, prompts: Sequence[Prompt], y: int, cuts: list[dict[str, Any]] = []) -> bool:  # noqa: B006  # not changed
        """Say whether a leaf holds on prompts."""
        trees = {t: entry["tree"] for entry in cuts for t in entry["over"]}
        ends = {(len(prompt), prompt[-1]) for prompt in prompts}
        parts = [[one for one in prompts if (len(one), one[-1]) == end] for end in sorted(ends)]
        others = [t for t in range(self.candidates) if t != y]
        return all(self.closes(part, (y, t), trees.get(t, self.usual())) for part in parts for t in others)
