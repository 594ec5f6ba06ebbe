"""Counts and measures as slowly and plainly as `docs/certificate.md` has them, from the files of a bundle.

Rows are the twin's (`enclosed_twin`), ln is mpmath's. Nothing here is shared with the engine or the checker.
"""

import json
import math
import struct
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath

from bundle_maker import Bundle, every_edge, lacks_nothing
from enclosed_twin import DIGITS, EnclosedNaive, Row, exponential, floor_of, leader

Pair = tuple[int, int]


def opened(files: dict[str, bytes]) -> Bundle:
    """Return a bundle of its files, rows that are left out being zero."""
    claim, domain, certificate = (
        json.loads(files[f"{name}.json"]) for name in ("claim", "domain", "certificate")
    )
    content = files["weights.safetensors"]
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    tensors = {}
    for name, said in claim["weights"].items():
        begin, end = header[name]["data_offsets"]
        numbers = list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]))
        if said["rows"] is not None:
            width = math.prod(said["shape"][1:])
            full = [0.0] * math.prod(said["shape"])
            for place, row in enumerate(said["rows"]):
                full[row * width : (row + 1) * width] = numbers[place * width : (place + 1) * width]
            numbers = full
        tensors[name] = (tuple(said["shape"]), numbers)
    return Bundle(claim, domain, tensors, certificate)


def logarithm(top: int, p: int) -> int:
    """Return ⌊2^p·ln(top/2^p)⌋."""
    with mpmath.workdps(DIGITS + p):
        return floor_of(mpmath.ldexp(mpmath.log(mpmath.ldexp(top, -p)), p), p)


class Reading:
    """What the page says of the counts and measures of a bundle with enclosed numbers."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.bundle = opened(files)
        self.claim, self.p = self.bundle.claim, self.bundle.certificate["precision"]
        self.prompts = self.bundle.domain["prompts"]
        self.answers = self.claim["task"]["answer"]["answers"]
        self.known: dict[tuple[str, ...], Row] = {}

    def row(self, prompt: int, edges: list[str] | None = None) -> Row:
        """Return the enclosed logits of a circuit, or of the claim's own."""
        kept = self.claim["circuit"]["edges"] if edges is None else edges
        key = (str(prompt), *kept)
        if key not in self.known:
            self.known[key] = EnclosedNaive(self.bundle, kept, self.prompts[prompt], self.p).enclosed()
        return self.known[key]

    def right(self, prompt: int) -> int:
        """Return the place of the right answer."""
        return self.claim["task"]["candidates"].index(self.answers[prompt])

    def is_right(self, prompt: int) -> bool | None:
        """Say whether the right candidate is decided, if any decision is known."""
        found = leader(self.row(prompt))
        return None if found is None else found == self.right(prompt)

    def difference(self, prompt: int, edges: list[str] | None = None) -> Pair:
        """Return the bounds of m(x)."""
        (numbers, radius), a = self.row(prompt, edges), self.right(prompt)
        lead = numbers[a] - max(one for t, one in enumerate(numbers) if t != a)
        return lead - 2 * radius, lead + 2 * radius

    def loss(self, prompt: int) -> Pair:
        """Return the bounds of the loss."""
        (numbers, radius), a = self.row(prompt), self.right(prompt)
        z, behind = sum(exponential(one - max(numbers), self.p) for one in numbers), max(numbers) - numbers[a]
        low, high = logarithm(z, self.p), logarithm(z + len(numbers), self.p) + 1
        return low + behind - 2 * radius, high + behind + 2 * radius

    def share(self, prompt: int) -> Pair | None:
        """Return the bounds of the recovered share, if its denominator keeps its sign."""
        own, none = self.difference(prompt), self.difference(prompt, [])
        model = self.difference(prompt, every_edge(self.claim["architecture"]))
        n = (own[0] - none[1], own[1] - none[0])
        d = (model[0] - none[1], model[1] - none[0])
        if d[0] <= 0 <= d[1]:
            return None
        quotients = [Fraction(one, other) for one in n for other in d]
        return math.floor(2**self.p * min(quotients)), math.ceil(2**self.p * max(quotients))

    def ends(self, entry: dict[str, Any]) -> dict[str, tuple[Fraction, Fraction] | None]:
        """Return what each bracketed number of a measure lies between."""
        every = range(len(self.prompts))
        if entry["kind"] == "recovered difference":
            shares = [self.share(x) for x in every if x not in entry["without"]]
            return {"mean": None if None in shares else self.mean(shares)}
        pairs = [self.loss(x) if entry["kind"] == "loss" else self.difference(x) for x in every]
        return {
            "least": self.scaled(min(one[0] for one in pairs), min(one[1] for one in pairs)),
            "mean": self.mean(pairs),
            "greatest": self.scaled(max(one[0] for one in pairs), max(one[1] for one in pairs)),
        }

    def mean(self, pairs: list[Any]) -> tuple[Fraction, Fraction]:
        """Return the bounds of a mean."""
        low, high = self.scaled(sum(one[0] for one in pairs), sum(one[1] for one in pairs))
        return low / len(pairs), high / len(pairs)

    def scaled(self, low: int, high: int) -> tuple[Fraction, Fraction]:
        """Return numbers of units as what they are."""
        return Fraction(low, 2**self.p), Fraction(high, 2**self.p)

    def verdict(self, entry: dict[str, Any]) -> str:
        """Return what is known of a count or a measure at this precision."""
        if entry["kind"] == "accuracy":
            return self.counted(entry)
        said = {key: entry[key] for key in ("least", "mean", "greatest") if entry.get(key) is not None}
        found = self.ends(entry)
        held = [bracketed(found[key], bracket) for key, bracket in said.items()]
        return "refuted" if False in held else "proved" if None not in held else "undecided"

    def counted(self, entry: dict[str, Any]) -> str:
        """Return what is known of an accuracy."""
        right = [self.is_right(x) for x in range(len(self.prompts))]
        if "least" in entry:
            if right.count(True) >= entry["least"]:
                return "proved"
            return "refuted" if right.count(False) > len(right) - entry["least"] else "undecided"
        wanted = [x not in entry["wrong"] for x in range(len(right))]
        if any(one is not None and one is not said for one, said in zip(right, wanted, strict=True)):
            return "refuted"
        return "undecided" if None in right else "proved"

    def remarks(self, entry: dict[str, Any]) -> list[str]:
        """Return the remarks on a proved count or measure."""
        every, ablation = every_edge(self.claim["architecture"]), self.claim["circuit"]["ablation"]
        kind, said = entry["kind"], []
        if kind == "accuracy":
            most = max(Counter(self.answers).values())
            right = entry["least"] if "least" in entry else len(self.prompts) - len(entry["wrong"])
            said += [f"no better than a constant: {most}"] * (most >= right)
            said += self.unedged(right, most)
        if kind == "recovered difference" and lacks_nothing(self.bundle):
            said.append("whole model")
        if kind == "recovered difference" and not any("> logits" in one for one in self.edges()):
            said.append("no edges")
        if ablation != "zero":
            cuts = kind == "recovered difference" or not self.keeps_all()
            said += self.alone(ablation) if cuts else []
        if kind == "recovered difference" and entry["without"]:
            said.append(f"prompts left out: {len(entry['without'])}")
        is_apart = any(
            abs(a - b) > self.row(x)[1] + self.row(x, every)[1]
            for x in range(len(self.prompts))
            for a, b in zip(self.row(x)[0], self.row(x, every)[0], strict=True)
        )
        return said + ["perhaps logits of the whole model"] * (ablation != "zero" and not is_apart)

    def edges(self) -> list[str]:
        """Return the kept edges."""
        return self.claim["circuit"]["edges"]

    def unedged(self, right: int, most: int) -> list[str]:
        """Remark that the circuit without any edge is right on so many prompts, or may be."""
        decided = [leader(self.row(x, [])) for x in range(len(self.prompts))]
        sure = [x for x, one in enumerate(decided) if one == self.right(x)]
        if len(sure) >= right:
            return ["decided without edges"]
        is_one = self.claim["circuit"]["ablation"] == "zero"
        maybe = most if is_one and None in decided else len(sure) + decided.count(None)
        return ["perhaps decided without edges"] * (maybe >= right)

    def keeps_all(self) -> bool:
        """Say whether no edge is cut."""
        is_split = self.claim["circuit"]["granularity"] == "port"
        every = every_edge(self.claim["architecture"], self.claim["programs"] if is_split else None)
        return sorted(every) == sorted(self.claim["circuit"]["edges"])

    def alone(self, ablation: dict[str, Any]) -> list[str]:
        """Remark on prompts that stand for themselves, or alone."""
        if ablation["kind"] == "counterfactual":
            own = sum(one == other for one, other in ablation["pairs"] if one in self.prompts)
            return [f"own partners: {own}"] * bool(own)
        lengths = [len(one) for one in ablation["prompts"]]
        single = [
            len(lengths) == 1 if ablation["over"] == "all" else lengths.count(len(one)) == 1
            for one in self.prompts
        ]
        return [f"means of one prompt: {sum(single)}"] * any(single)


def bracketed(ends: tuple[Fraction, Fraction] | None, bracket: list[str | None]) -> bool | None:
    """Say whether a bracket is met, or missed, or neither."""
    if ends is None:
        return None
    low, high = (None if one is None else Fraction(one) for one in bracket)
    if (high is not None and ends[0] > high) or (low is not None and ends[1] < low):
        return False
    is_met = (low is None or low <= ends[0]) and (high is None or ends[1] <= high)
    return True if is_met else None
