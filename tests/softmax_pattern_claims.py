"""Bundles about patterns for softmax heads: tiny random models, evidence found by looking at every prompt."""

import random
import struct
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import bundle_maker as maker
from bundle_maker import Bundle, architecture, circuit_of, random_bundle
from enclosed_twin import EnclosedNaive, leader
from sums_twin import Prompt, SumsTwin

OPENERS = (0, 2)
ANY: dict[str, Any] = {"all but": []}
LONGEST = 3
PATTERN: dict[str, Any] = {
    "shape": {"repeat": ANY, "least": 1, "most": LONGEST},
    "clauses": [{"of": {"tokens": list(OPENERS)}, "least": 1, "most": 1}],
    "longest": LONGEST,
}
"""One opener among one to three tokens."""
SOFTMAX = {"attention": "softmax", "vocabulary": 5, "context": 4}
EVERY = ["embed -> head 0.0", "embed -> logits", "head 0.0 -> logits"]
TWO = [
    "embed -> head 0.0",
    "embed -> head 0.1",
    "embed -> logits",
    "head 0.0 -> logits",
    "head 0.1 -> logits",
]
CUTS = [[1, 0], [0, 1], [1, 1], [2, 1]]
"""Weights that are tried for each head."""


class SoftmaxPattern:
    """A bundle about a pattern, of which all prompts are listed and decided by the twin."""

    def __init__(
        self,
        seed: int,
        edges: list[str] | None = None,
        *,
        pattern: dict[str, Any] | None = None,
        p: int = 64,
        loudness: int = 1,
        **size: Any,
    ) -> None:
        """Draw a model in which openers are so much louder than other tokens."""
        chance = random.Random(seed)  # noqa: S311  # weights for a test
        made = architecture(**SOFTMAX | size)
        self.edges = list(edges or EVERY)
        self.bundle = random_bundle(made, self.edges, seed, prompts=1)
        self.bundle.pins = {"domain", "tensors", "certificate"}
        for name, (shape, numbers) in self.bundle.tensors.items():
            drawn = [chance.uniform(-1, 1) for _ in numbers]
            self.bundle.tensors[name] = shape, [struct.unpack("<f", struct.pack("<f", x))[0] for x in drawn]
        _, table = self.bundle.tensors["embed.token"]
        for token in OPENERS:
            row = slice(made["width"] * token, made["width"] * (token + 1))
            table[row] = [loudness * one for one in table[row]]
        self.claim, self.p = self.bundle.claim, p
        self.claim |= {"arithmetic": "enclosed", "circuit": circuit_of(made, self.edges)}
        self.candidates: list[int] = self.claim["task"]["candidates"]
        every = [q for n in range(1, 5) for q in product(range(made["vocabulary"]), repeat=n)]
        self.pattern = pattern or PATTERN
        self.prompts: list[Prompt] = [prompt for prompt in every if self.is_in(prompt)]
        self.bundle.domain = {"prompts": [], "strata": [], "pattern": self.pattern}
        self.show(self.prompts[0])
        self.known: dict[tuple[Any, ...], int | None] = {}
        self.twin = SumsTwin(self.bundle, self.edges, self.prompts, p)
        self.pairs = [[opener, self.most(opener)] for opener in OPENERS]
        self.answers: list[dict[str, Any]] = []

    def is_in(self, prompt: Prompt) -> bool:
        """Say whether a prompt is of the pattern: of as many tokens, with one opener."""
        return len(prompt) <= self.pattern["longest"] and sum(token in OPENERS for token in prompt) == 1

    def decision(self, prompt: Prompt, edges: list[str] | None = None) -> int | None:
        """Return the place of the candidate that is known to be decided."""
        kept = self.edges if edges is None else edges
        if (prompt, *kept) not in self.known:
            row = EnclosedNaive(self.bundle, kept, list(prompt), self.p).enclosed()
            self.known[prompt, *kept] = leader(row)
        return self.known[prompt, *kept]

    def most(self, opener: int) -> int:
        """Return the candidate that is decided of most prompts with an opener."""
        places = [self.decision(prompt) or 0 for prompt in self.prompts if opener in prompt]
        return self.candidates[max(sorted(set(places)), key=places.count)]

    def label(self, prompt: Prompt) -> tuple[int, int]:
        """Return the answer of a prompt's opener, and the opener."""
        return next((answer, opener) for opener, answer in self.pairs if opener in prompt)

    def is_right(self, prompt: Prompt) -> bool:
        """Say whether the answer is decided."""
        place = self.decision(prompt)
        return place is not None and self.candidates[place] == self.label(prompt)[0]

    def show(self, prompt: Prompt) -> int:
        """Return the number of a prompt of the domain, adding it the first time."""
        listed = self.bundle.domain["prompts"]
        if list(prompt) not in listed:
            listed.append(list(prompt))
            self.bundle.domain["strata"].append("all")
        return listed.index(list(prompt))

    def replay(self, prompt: Prompt) -> dict[str, Any]:
        """Return a replay of a prompt."""
        return {"replay": [{"prompt": self.show(prompt), "decided": self.decision(prompt)}]}

    def shown(self, prompts: Sequence[Prompt]) -> dict[str, Any]:
        """Return a leaf that shows prompts one by one."""
        return {"prompts": [{"prompt": self.show(one), "decided": self.decision(one)} for one in prompts]}

    def settled(self, prompts: Sequence[Prompt]) -> dict[str, Any] | None:
        """Return a leaf about all of some prompts, if one is found."""
        places = {self.decision(prompt) for prompt in prompts}
        if len(places) > 1 or None in places:
            return None
        (winner,) = places
        assert winner is not None
        if self.twin.holds(prompts, winner):
            return {"decided": winner}
        cuts: list[dict[str, Any]] = []
        for other in range(len(self.candidates)):
            if other != winner and not self.is_closed(prompts, winner, other, self.twin.usual()):
                trees = [tree for tree in self.trees() if self.is_closed(prompts, winner, other, tree)]
                if not trees:
                    return None
                cuts.append({"over": [other], "tree": trees[0]})
        return {"decided": winner, "cuts": cuts}

    def is_closed(self, prompts: Sequence[Prompt], winner: int, other: int, tree: Any) -> bool:
        """Say whether a tree shows a lead over one other candidate."""
        ends = sorted({(len(prompt), prompt[-1]) for prompt in prompts})
        parts = [[one for one in prompts if (len(one), one[-1]) == end] for end in ends]
        return all(self.twin.closes(part, (winner, other), tree) for part in parts)

    def trees(self) -> list[Any]:
        """Return some trees of cuts."""
        heads = [head.removeprefix("head ") for head in self.twin.heads]
        flat = [sum(chosen, start=list[int]()) for chosen in product(CUTS, repeat=len(heads))]
        at = [[-(1 << 15), 0, 1 << 15], [-(1 << 13), 1 << 13]]
        divided = [
            {"head": head, "at": one, "parts": [weights] * (len(one) + 1)}
            for head in heads
            for one in at
            for weights in flat[:4]
        ]
        return [*flat, *divided]

    def tree(
        self, prompts: Sequence[Prompt], asked: Sequence[str] = ("label", "length", "last", "first")
    ) -> Any:
        """Return evidence about prompts: a leaf, or a split by what is asked next."""
        leaf = self.settled(prompts)
        if leaf is not None or not asked:
            return leaf or self.shown(prompts)
        first, *rest = asked
        lengths = {len(prompt) for prompt in prompts}
        if first in ("last", "first") and len(lengths) > 1:
            return self.tree(prompts, rest)
        if first == "label":
            labels = sorted({self.label(prompt) for prompt in prompts})
            parts = [([p for p in prompts if self.label(p) == label], label) for label in labels]
            return split(
                "label", [{"answer": a, "class": o, "evidence": self.tree(p, rest)} for p, (a, o) in parts]
            )
        if first == "length":
            return split(
                "length",
                [
                    {"length": n, "evidence": self.tree([p for p in prompts if len(p) == n], rest)}
                    for n in sorted(lengths)
                ],
            )
        place = min(lengths) - 1 if first == "last" else 0
        tokens = sorted({prompt[place] for prompt in prompts})
        children = [
            {"class": {"tokens": [k]}, "evidence": self.tree([p for p in prompts if p[place] == k], rest)}
            for k in tokens
        ]
        return split("token", children) | {"position": place}

    def answer(self, entry: dict[str, Any], verdict: str, evidence: Any, remarks: Sequence[str] = ()) -> None:
        """Add a property with its answer."""
        self.answers.append(
            {"property": entry, "verdict": verdict, "evidence": evidence, "remarks": [*remarks]}
        )

    def accuracy(self, verdict: str = "proved", evidence: Any = None, **said: Any) -> "SoftmaxPattern":
        """Claim accuracy, with the remark that applies."""
        answers = [self.label(prompt)[0] for prompt in self.prompts]
        number = said.get("least", said.get("exactly"))
        right = int(number) if number else len(self.prompts) - len(said["wrong"])
        remarks = self.remarks(answers, right) if verdict == "proved" else []
        found = self.tree(self.prompts) if evidence is None else evidence
        self.answer({"kind": "accuracy", **said}, verdict, found, remarks)
        return self

    def remarks(self, answers: list[int], right: int) -> list[str]:
        """Return the remarks on so many right prompts, given the right answer of each."""
        most, bare = max(map(answers.count, answers)), self.decision(self.prompts[0], [])
        alone = most if bare is None else answers.count(self.candidates[bare])
        unknown = "perhaps " * (bare is None)
        said = [f"no better than a constant: {most}"] * (most >= right)
        return said + [f"{unknown}decided without edges"] * (alone >= right)

    def right(self) -> int:
        """Return on how many prompts the answer is decided."""
        return sum(self.is_right(prompt) for prompt in self.prompts)

    def sealed(self, change: Callable[[Bundle], None] = lambda _: None) -> Bundle:
        """Return the bundle with its answers."""
        task = self.claim["task"]
        task["answer"] = {"kind": "only opener", "answers": self.pairs}
        task["relation"] = {"kind": "same opener", "openers": list(OPENERS)}
        self.claim["properties"] = [dict(one["property"]) for one in self.answers]
        self.bundle.certificate = {
            "format": maker.CERTIFICATE_FORMAT,
            "precision": self.p,
            "folds": [],
            "answers": self.answers,
        }
        change(self.bundle)
        return self.bundle


def split(question: str, children: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a split."""
    return {"split": question, "children": children}
