"""Bundles about patterns, honest and forged: minima are found by looking at every prompt."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import bundle_maker as maker
from bundle_maker import FINAL_RESIDUAL, Bundle, Naive, architecture, random_bundle

OPENERS = (0, 2)
MEMBER = {"0.0": ["default 0", "add 1 when key_token in {0, 2}", "otherwise self"]}
EDGES = ["embed -> head 0.0", "head 0.0 -> logits"]
ANY = {"all but": []}
ONE_OPENER: dict[str, Any] = {
    "shape": {"repeat": ANY, "least": 1, "most": 2},
    "clauses": [{"of": {"tokens": [0, 2]}, "least": 1, "most": 1}],
    "longest": 2,
}
Prompt = tuple[int, ...]


class Patterned:
    """A bundle about a pattern, whose prompts are given by a test of single prompts."""

    def __init__(
        self,
        seed: int,
        *,
        pattern: dict[str, Any] | None = None,
        holds: Callable[[Prompt], bool] = lambda prompt: sum(token in OPENERS for token in prompt) == 1,
        programs: dict[str, list[str]] | None = None,
        change: Callable[[Bundle], None] = lambda _: None,
        size: dict[str, Any] | None = None,
    ) -> None:
        self.bundle = random_bundle(size or architecture(), list(EDGES), seed, programs or MEMBER, prompts=1)
        change(self.bundle)
        self.candidates = self.bundle.claim["task"]["candidates"]
        every = [prompt for size in (1, 2) for prompt in product(range(6), repeat=size)]
        self.prompts = [prompt for prompt in every if holds(prompt)]
        self.bundle.domain = {"prompts": [[0]], "strata": ["all"], "pattern": pattern or ONE_OPENER}
        self.folds: list[list[str]] = []
        self.known: dict[tuple[Any, ...], list[Fraction]] = {}
        self.pairs = [[opener, self.usual(opener)] for opener in OPENERS]
        self.classes = list(OPENERS)

    def logits(self, prompt: Prompt, edges: list[str] = EDGES) -> list[Fraction]:
        """Return the naive logits of a prompt."""
        key = (prompt, *edges)
        if key not in self.known:
            self.known[key] = Naive(self.bundle, edges, list(prompt)).logits()
        return self.known[key]

    def decision(self, prompt: Prompt, edges: list[str] = EDGES) -> set[int]:
        """Return the candidates of the largest logit."""
        logits = self.logits(prompt, edges)
        return {one for one, logit in zip(self.candidates, logits, strict=True) if logit == max(logits)}

    def usual(self, opener: int) -> int:
        """Return what the prompt of just an opener is decided."""
        return min(self.decision((opener,)))

    def of(self, opener: int) -> list[Prompt]:
        """Return the prompts with an opener."""
        return [prompt for prompt in self.prompts if opener in prompt]

    def is_uniform(self) -> bool:
        """Say whether all prompts with an opener are decided alike."""
        return all(self.decision(p) == {self.usual(o)} for o in OPENERS for p in self.of(o))

    def leaf(self, prompts: list[Prompt], answer: int) -> dict[str, Any]:
        """Return the least margins of a candidate over all these prompts."""
        winner = self.candidates.index(answer)
        rivals = [place for place in range(len(self.candidates)) if place != winner]
        least = [min(self.logits(p)[winner] - self.logits(p)[rival] for p in prompts) for rival in rivals]
        return {"decision": winner, "margins": [str(margin) for margin in least]}

    def shown(self, prompts: list[Prompt], without: list[str] | None = None) -> dict[str, Any]:
        """Return a leaf that shows prompts one by one."""
        entries: list[dict[str, Any]] = []
        for prompt in prompts:
            if list(prompt) not in self.bundle.domain["prompts"]:
                self.bundle.domain["prompts"].append(list(prompt))
                self.bundle.domain["strata"].append("all")
            entry = {"prompt": self.bundle.domain["prompts"].index(list(prompt)), "fold": self.fold(prompt)}
            entries.append(entry if without is None else entry | {"lesion": self.fold(prompt, without)})
        return {"prompts": entries}

    def both(self, opener: int) -> dict[str, Any]:
        """Return a leaf that shows the prompts of an opener in two circuits."""
        entries = self.shown(self.of(opener), OTHER)["prompts"]
        return {"prompts": [{"other": one.pop("lesion"), **one} for one in entries]}

    def fold(self, prompt: Prompt, edges: list[str] = EDGES) -> int:
        """Return the index of a fold, adding it the first time."""
        row = [str(logit) for logit in self.logits(prompt, edges)]
        if row not in self.folds:
            self.folds.append(row)
        return self.folds.index(row)

    def by_label(self, leaf: Callable[[int, int], dict[str, Any]]) -> dict[str, Any]:
        """Return a split by label; `leaf` makes the evidence for an opener and its answer."""
        children = [{"answer": a, "class": o, "evidence": leaf(o, a)} for o, a in self.pairs]
        return {"split": "label", "children": children}

    def settled(self) -> dict[str, Any]:
        """Return the honest tree."""
        return self.by_label(lambda opener, answer: self.leaf(self.of(opener), answer))

    def sealed(self, entry: dict[str, Any], evidence: dict[str, Any], verdict: str = "proved") -> Bundle:
        """Return the bundle with one answer."""
        claim = self.bundle.claim
        claim["task"]["answer"] = {"kind": "only opener", "answers": self.pairs}
        claim["task"]["relation"] = {"kind": "same opener", "openers": self.classes}
        claim["properties"] = [entry]
        answer = {"property": dict(entry), "verdict": verdict, "evidence": evidence, "remarks": []}
        partners = dict(map(tuple, self.pairs))
        self.bundle.labels = [
            (next(partners[t] for t in p if t in partners), next((t for t in p if t in self.classes), -1))
            for p in self.prompts
            if any(t in partners for t in p)
        ]
        self.bundle.certificate = {
            "format": maker.CERTIFICATE_FORMAT,
            "folds": self.folds,
            "answers": [answer],
        }
        claim["weights"] = maker.pinned(self.bundle.tensors)
        return self.bundle


EQUIVALENCE = {"kind": "equivalence"}
ROBUST = {"kind": "robustness", "epsilon": "1/1000000", **FINAL_RESIDUAL}


def suiting(is_suitable: Callable[[Patterned], bool], **options: Any) -> Patterned:
    """Return the first random bundle for which something holds."""
    return next(made for seed in range(500) if is_suitable(made := Patterned(seed, **options)))


def uniform(**options: Any) -> Patterned:
    """Return a bundle whose circuit decides by the opener, which differs from one to the other."""
    return suiting(lambda p: p.is_uniform() and p.usual(0) != p.usual(2), **options)


def honest() -> Bundle:
    """Return a proof that holds."""
    made = uniform()
    return made.sealed(EQUIVALENCE, made.settled())


def _missing_label() -> Bundle:
    made = uniform()
    evidence = made.settled()
    evidence["children"].pop()
    return made.sealed(EQUIVALENCE, evidence)


def _unknown_question() -> Bundle:
    made = uniform()
    return made.sealed(EQUIVALENCE, made.settled() | {"split": "colour"})


def _depends_on_the_length() -> Bundle:
    lines = [
        "default 0",
        "add 1 when key_token in {0, 2}",
        "add 0 when query_position == 1",
        "otherwise self",
    ]
    made = uniform(programs={"0.0": lines})
    return made.sealed(EQUIVALENCE, made.settled())


def _larger_margin() -> Bundle:
    made = uniform()
    evidence = made.settled()
    evidence["children"][0]["evidence"]["margins"][0] = "1000"
    return made.sealed(EQUIVALENCE, evidence)


def _not_decided_throughout() -> Bundle:
    made = suiting(lambda p: not p.is_uniform())
    return made.sealed(EQUIVALENCE, made.settled())


def _no_opener() -> Bundle:
    """Return a proof of necessity on a pattern of which most prompts have no right answer."""

    def witness(made: Patterned, edge: int) -> Prompt | None:
        rest = EDGES[:edge] + EDGES[edge + 1 :]
        needed = [p for o in OPENERS for p in made.of(o) if sum(t in OPENERS for t in p) == 1]
        needed = [
            p for p in needed if len(made.decision(p)) == 1 and made.decision(p) != made.decision(p, rest)
        ]
        return needed[0] if needed else None

    loose = ONE_OPENER | {"clauses": []}
    made = suiting(lambda p: None not in (witness(p, 0), witness(p, 1)), pattern=loose, holds=lambda _: True)
    replays: list[dict[str, Any]] = []
    for edge in range(len(EDGES)):
        prompt, rest = witness(made, edge), EDGES[:edge] + EDGES[edge + 1 :]
        assert prompt is not None
        replays.append({"replay": made.shown([prompt], rest)["prompts"]})
    return made.sealed({"kind": "necessity"}, {"split": "edge", "children": replays})


def _wrong_answer() -> Bundle:
    made = uniform()
    evidence = made.settled()
    made.pairs[0][1] = made.pairs[1][1]
    evidence["children"][0]["answer"] = made.pairs[0][1]
    return made.sealed(EQUIVALENCE, evidence)


def _two_decisions_in_a_class() -> Bundle:
    pattern = {"shape": {"sequence": [{"tokens": [4]}, {"tokens": [0, 2]}]}, "clauses": [], "longest": 2}
    made = suiting(
        lambda p: p.decision((4, 0)) != p.decision((4, 2)),
        pattern=pattern,
        holds=lambda prompt: prompt in ((4, 0), (4, 2)),
    )
    made.pairs = [[opener, min(made.decision((4, opener)))] for opener in OPENERS]
    made.classes = [4]
    made.bundle.domain["prompts"] = [[4, 0]]
    evidence = made.settled()
    for child in evidence["children"]:
        child["class"] = 4
    return made.sealed({"kind": "invariance"}, evidence)


def _unshown_prompts() -> Bundle:
    made = uniform()
    return made.sealed(EQUIVALENCE, made.by_label(lambda *_: made.shown([])))


def _needed_edge() -> Bundle:
    without = EDGES[1:]
    made = suiting(lambda p: any(p.decision(one) != p.decision(one, without) for one in p.prompts))
    tree = made.by_label(lambda opener, _: made.shown(made.of(opener), without))
    return made.sealed({"kind": "necessity"}, {"edge": 0, "evidence": tree}, "refuted")


def _tied(bundle: Bundle) -> None:
    weight, bias = bundle.tensors["logits.weight"][1], bundle.tensors["logits.bias"][1]
    for token in (3, 4):
        weight[4 * token : 4 * token + 4] = weight[4:8]
        bias[token] = bias[1]


def _shown_ties() -> Bundle:
    made = Patterned(0, change=_tied)
    return made.sealed(ROBUST, made.by_label(lambda opener, _: made.shown(made.of(opener))))


def _perturbed_elsewhere() -> Bundle:
    made = uniform()
    return made.sealed(ROBUST | {"at": "head 0.0 output"}, made.settled())


def robust_before_a_norm() -> Bundle:
    """Return a pattern proof of robustness that leaves the norm out of account."""
    made = uniform(size=architecture(norm={"kind": "band", "low": "1", "high": "2", "lift": "continuous"}))
    return made.sealed(ROBUST, made.by_label(lambda opener, _: made.shown(made.of(opener))))


def _through_brackets() -> Bundle:
    made = uniform()
    evidence = made.settled()
    lines = ["default 0", "add 1 when unmatched {0: 1, 2: 3}", "otherwise self"]
    made.bundle.claim["programs"] = {"0.0": lines}
    return made.sealed(EQUIVALENCE, evidence)


def _prompt_outside() -> Bundle:
    bundle = honest()
    bundle.domain["prompts"].append([0, 1, 1])
    bundle.domain["strata"].append("all")
    return bundle


def _classes_by_table() -> Bundle:
    bundle = honest()
    bundle.claim["task"]["relation"] = {"kind": "table", "classes": [0]}
    return bundle


def _unknown_token() -> Bundle:
    made = uniform(pattern=ONE_OPENER | {"shape": {"repeat": {"all but": [99]}, "least": 1, "most": 2}})
    return made.sealed(EQUIVALENCE, made.settled())


def _another_property() -> Bundle:
    made = uniform()
    return made.sealed({"kind": "faithfulness"}, made.settled())


OTHER = ["embed -> head 0.0", "embed -> logits", "head 0.0 -> logits"]
AGREEMENT = {"kind": "agreement", "granularity": "head", "edges": OTHER}


def agreeing(*, is_single: bool = False) -> Bundle:
    """Return a proof that two circuits agree: prompts one by one, or without the other's logits."""
    made = suiting(lambda p: all(p.decision(one) == p.decision(one, OTHER) for one in p.prompts))
    tree = made.by_label(lambda o, a: made.leaf(made.of(o), a) if is_single else made.both(o))
    return made.sealed(AGREEMENT, tree)


def agreeing_through_brackets() -> Bundle:
    """Return margins of two circuits, of which the other has a head that matches brackets."""
    lines = ["default 0", "add 1 when unmatched {0: 1, 2: 3}", "otherwise self"]
    made = uniform(size=architecture(heads=2), programs=MEMBER | {"0.1": lines})
    edges = [*EDGES[:1], "embed -> head 0.1", *EDGES[1:], "head 0.1 -> logits"]
    evidence = made.by_label(lambda o, a: (leaf := made.leaf(made.of(o), a)) | {"other": leaf["margins"]})
    return made.sealed(AGREEMENT | {"edges": edges}, evidence)


def _shown_disagreement() -> Bundle:
    made = suiting(
        lambda p: p.is_uniform() and any(p.decision(one) != p.decision(one, OTHER) for one in p.prompts)
    )
    return made.sealed(AGREEMENT, made.by_label(lambda opener, _: made.both(opener)))


def _spelled(shape: dict[str, Any], longest: int = 2) -> Bundle:
    """Return an honest proof about a pattern that is spelled as no prover spells it."""
    made = uniform(pattern=ONE_OPENER | {"shape": shape, "longest": longest})
    return made.sealed(EQUIVALENCE, made.settled())


def _empty_prompt() -> Bundle:
    shape = {"repeat": {"tokens": list(OPENERS)}, "least": 0, "most": 1}
    pattern = {"shape": shape, "clauses": [], "longest": 1}
    made = uniform(pattern=pattern, holds=lambda prompt: prompt in ((0,), (2,)))
    return made.sealed(EQUIVALENCE, made.settled())


FORGED: dict[str, Callable[[], Bundle]] = {
    "answers_exhaust_the_region": _missing_label,
    "questions_are_known": _unknown_question,
    "leaves_can_be_settled": _depends_on_the_length,
    "margins_are_the_least": _larger_margin,
    "margins_suffice": _not_decided_throughout,
    "prompts_of_patterns_have_labels": _no_opener,
    "regions_are_decided_right": _wrong_answer,
    "regions_of_a_class_are_decided_alike": _two_decisions_in_a_class,
    "shown_prompts_fill_the_region": _unshown_prompts,
    "shown_prompts_do_not_need_the_edge": _needed_edge,
    "shown_prompts_are_decided": _shown_ties,
    "shown_prompts_are_decided_alike": _shown_disagreement,
    "leaves_allow_the_place": _perturbed_elsewhere,
    "leaves_allow_the_norm": robust_before_a_norm,
    "leaves_allow_the_programs": _through_brackets,
    "shown_prompts_are_of_the_pattern": _prompt_outside,
    "patterns_have_rules": _classes_by_table,
    "classes_list_tokens_in_order": _unknown_token,
    "patterns_have_these_properties": _another_property,
    "sequences_and_choices_have_several_parts": lambda: _spelled({"choice": [ONE_OPENER["shape"]]}),
    "parts_are_of_another_kind_than_the_whole": lambda: _spelled(
        {"choice": [ONE_OPENER["shape"], {"choice": [ANY, ANY]}]}
    ),
    "shapes_have_prompts_as_long_as_the_longest": lambda: _spelled(ONE_OPENER["shape"], longest=3),
    "patterns_leave_the_empty_prompt_out": _empty_prompt,
}
"""For each rule about patterns a bundle that breaks just that rule."""
STOPPING = {
    "questions_are_known",
    "leaves_allow_the_programs",
    "patterns_have_rules",
    "patterns_have_these_properties",
}
"""Rules without which there is nothing to look up."""
REFUTING = {"shown_prompts_do_not_need_the_edge"}
"""Rules about refutations."""
