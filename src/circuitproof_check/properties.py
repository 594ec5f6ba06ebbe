"""The certificate: what evidence must show for each property and verdict.

Obligations come from the claim. What states a rule walks the whole claim, so nothing is accepted for lack of
evidence. Evidence is made of splits that exhaust a question, replays of single prompts, and folds: rows of
logits, which are compared with what the checker computes itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from .architecture import Edges, all_edges, logits_node, read_edges, smaller_circuits
from .claim import Claim, Property, check_format, read_property
from .exact import dot, from_fractions, mix
from .forward import Forward
from .reading import fields, integer, items, rational, rationals, require, text

Decision = frozenset[int]
"""The candidates of the largest logit."""
Fold = tuple[Fraction, ...]
"""One logit per candidate."""


class Verdict(Enum):
    """How a property is answered."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, what its circuit computes, and the folds of the certificate."""

    claim: Claim
    forward: Forward
    folds: tuple[Fold, ...]
    referred: set[int] = field(default_factory=set[int])

    def fold(self, value: object, prompt: int, where: str, edges: Edges | None = None) -> Fold:
        """Return the fold that evidence refers to: the logits of the circuit, or of other edges."""
        index = integer(value, f"{where}: fold", 0, len(self.folds) - 1)
        self.referred.add(index)
        kept = self.claim.edges if edges is None else edges
        logits = self.forward.logits(kept, self.claim.prompts[prompt])
        require("folds_are_the_logits", self.folds[index] == logits, where, self.folds[index], logits)
        return self.folds[index]

    def decision(self, value: object, prompt: int, where: str, edges: Edges | None = None) -> Decision:
        """Return the decision of the fold that evidence refers to."""
        return self.decide(self.fold(value, prompt, where, edges))

    def decide(self, logits: Fold) -> Decision:
        """Return the candidates of the largest logit."""
        pairs, largest = zip(self.claim.task.candidates, logits, strict=True), max(logits)
        return frozenset(candidate for candidate, logit in pairs if logit == largest)

    def lesion(self, edge: int) -> Edges:
        """Return the circuit without one of its edges."""
        return self.claim.edges[:edge] + self.claim.edges[edge + 1 :]

    def by_prompt(self, value: object, where: str, *names: str) -> Iterator[tuple[int, str, list[object]]]:
        """Return index, place and fields of each leaf of a split, one per prompt of the domain."""
        for prompt, leaf in enumerate(_split(value, "prompt", len(self.claim.prompts), where)):
            place = f"{where}, prompt {prompt}"
            yield prompt, place, list(fields(leaf, place, *names))

    def replay(self, value: object, where: str, *names: str) -> tuple[int, list[object]]:
        """Return the prompt and the other fields of the only entry of a replay."""
        entries = items(fields(value, where, "replay")[0], where)
        require("replays_are_single", len(entries) == 1, where, len(entries))
        return self.replayed(entries[0], where, *names)

    def replayed(self, entry: object, where: str, *names: str) -> tuple[int, list[object]]:
        """Return the prompt and the other fields of an entry of a replay."""
        prompt, *others = fields(entry, where, "prompt", *names)
        return integer(prompt, f"{where}: prompt", 0, len(self.claim.prompts) - 1), others


def _split(value: object, question: str, count: int, where: str) -> list[object]:
    found, children = fields(value, where, "split", "children")
    require("splits_are_by_the_question", found == question, where, found, question)
    entries = items(children, where)
    require("children_exhaust_the_split", len(entries) == count, where, len(entries), count)
    return entries


def judge(value: object, claim_digest: str, claim: Claim, forward: Forward) -> tuple[Verdict, ...]:
    """Return the verdict on each property of the claim, with every piece of evidence checked."""
    where = "certificate"
    spelled, digest, rows, answers = fields(value, where, "format", "claim", "folds", "answers")
    check_format(spelled, "circuitproof certificate 1")
    require("certificate_is_of_the_claim", digest == claim_digest, where, digest, claim_digest)
    case = Case(claim, forward, tuple(rationals(row, "folds") for row in items(rows, "folds")))
    entries, wanted = items(answers, "answers"), len(claim.properties)
    require("every_property_is_answered", len(entries) == wanted, where, len(entries), wanted)
    pairs = zip(claim.properties, entries, strict=False)
    verdicts = tuple(_judge_answer(case, claimed, entry) for claimed, entry in pairs)
    idle = set(range(len(case.folds))) - case.referred
    require("every_fold_is_referred_to", not idle, where, idle)
    return verdicts


def _judge_answer(case: Case, claimed: Property, value: object) -> Verdict:
    where = claimed.kind
    entry, verdict, evidence = fields(value, where, "property", "verdict", "evidence")
    answered = read_property(entry, where)
    require("answers_are_to_the_property", answered == claimed, where, answered)
    require("verdict_is_known", verdict in [member.value for member in Verdict], where, verdict)
    if verdict == "proved":
        _CHECKS[claimed.kind][0](case, evidence, claimed)
        return Verdict.PROVED
    if verdict == "refuted":
        _CHECKS[claimed.kind][1](case, evidence, claimed)
        return Verdict.REFUTED
    text(fields(evidence, where, "open")[0], where)
    return Verdict.UNDECIDED


Check = Callable[[Case, object, Property], None]


def _equivalence_proved(case: Case, evidence: object, claimed: Property) -> None:
    for prompt, where, (fold,) in case.by_prompt(evidence, claimed.kind, "fold"):
        decision, answer = case.decision(fold, prompt, where), case.claim.task.answers[prompt]
        require("decision_is_the_answer", decision == frozenset({answer}), where, decision, answer)


def _equivalence_refuted(case: Case, evidence: object, claimed: Property) -> None:
    prompt, (fold,) = case.replay(evidence, claimed.kind, "fold")
    is_other = case.decision(fold, prompt, claimed.kind) != frozenset({case.claim.task.answers[prompt]})
    require("decision_is_not_the_answer", is_other, claimed.kind)


def _check_clear(decision: Decision, where: str) -> None:
    require("decision_is_clear", len(decision) == 1, where, decision)


def _invariance_proved(case: Case, evidence: object, claimed: Property) -> None:
    decided: dict[int, Decision] = {}
    for prompt, where, (fold,) in case.by_prompt(evidence, claimed.kind, "fold"):
        decision = case.decision(fold, prompt, where)
        _check_clear(decision, where)
        first = decided.setdefault(case.claim.task.classes[prompt], decision)
        require("classes_are_decided_alike", decision == first, where, decision, first)


def _invariance_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where = claimed.kind
    seen: list[tuple[int, Decision]] = []
    for entry in items(fields(evidence, where, "replay")[0], where):
        prompt, (fold,) = case.replayed(entry, where, "fold")
        seen.append((case.claim.task.classes[prompt], case.decision(fold, prompt, where)))
    match seen:
        case [(_, decision)]:
            is_broken = len(decision) > 1
        case [(first, one), (second, other)]:
            is_broken = first == second and one != other
        case _:
            is_broken = False
    require("replay_breaks_invariance", is_broken, where, seen)


def _necessity_proved(case: Case, evidence: object, claimed: Property) -> None:
    for edge, leaf in enumerate(_split(evidence, "edge", len(case.claim.edges), claimed.kind)):
        where = f"{claimed.kind}, edge {edge}"
        prompt, (fold, lesion) = case.replay(leaf, where, "fold", "lesion")
        decision = case.decision(fold, prompt, where)
        _check_clear(decision, where)
        is_changed = decision != case.decision(lesion, prompt, where, case.lesion(edge))
        require("lesion_changes_the_decision", is_changed, where, decision)


def _necessity_refuted(case: Case, evidence: object, claimed: Property) -> None:
    index, tree = fields(evidence, claimed.kind, "edge", "evidence")
    edge = integer(index, f"{claimed.kind}.edge", 0, len(case.claim.edges) - 1)
    for prompt, where, (fold, lesion) in case.by_prompt(tree, claimed.kind, "fold", "lesion"):
        decision = case.decision(fold, prompt, where)
        without = case.decision(lesion, prompt, where, case.lesion(edge))
        is_kept = len(decision) > 1 or decision == without
        require("lesion_keeps_the_decision", is_kept, where, decision, without)


def _robustness_proved(case: Case, evidence: object, claimed: Property) -> None:
    _check_no_final_norm(case)
    for prompt, where, (index, spelled) in case.by_prompt(evidence, claimed.kind, "fold", "radius"):
        fold = case.fold(index, prompt, where)
        _check_clear(case.decide(fold), where)
        stated = None if spelled == "infinite" else rational(spelled, where)
        radius = _radius(case, fold)
        require("radius_is_the_radius", stated == radius, where, stated, radius)
        exceeds = stated is None or stated > claimed.epsilon
        require("radius_exceeds_epsilon", exceeds, where, stated, claimed.epsilon)


def _check_no_final_norm(case: Case) -> None:
    norm = case.claim.architecture.norm
    require("robustness_has_no_norm", norm is None, "robustness", norm)


def _radius(case: Case, fold: Fold) -> Fraction | None:
    """Return the least margin over distance of a clear decision, or None where it is infinite."""
    best = fold.index(max(fold))
    rows = [case.forward.output_row(token) for token in case.claim.task.candidates]
    ratios: list[Fraction] = []
    for other, row in enumerate(rows):
        apart = mix([1, -1], [rows[best], row], case.claim.architecture.width)
        distance = Fraction(sum(map(abs, apart.numbers)), apart.denominator)
        if distance:
            ratios.append((fold[best] - fold[other]) / distance)
    return min(ratios, default=None)


def _robustness_refuted(case: Case, evidence: object, claimed: Property) -> None:
    _check_no_final_norm(case)
    where, width = claimed.kind, case.claim.architecture.width
    prompt, (index, spelled) = case.replay(evidence, where, "fold", "eta")
    fold, eta = case.fold(index, prompt, where), rationals(spelled, where)
    require("eta_has_the_width", len(eta) == width, where, len(eta), width)
    require("eta_is_within_epsilon", max(map(abs, eta)) <= claimed.epsilon, where, eta, claimed.epsilon)
    pairs, shift = zip(fold, case.claim.task.candidates, strict=True), from_fractions(eta)
    moved = tuple(logit + dot(case.forward.output_row(token), shift) for logit, token in pairs)
    decision = case.decide(fold)
    require("eta_breaks_the_decision", len(decision) > 1 or case.decide(moved) != decision, where, decision)
    require("a_tie_needs_no_eta", len(decision) == 1 or not any(eta), where, decision)


def _faithfulness_proved(case: Case, evidence: object, claimed: Property) -> None:
    every = all_edges(case.claim.architecture)
    for prompt, where, (fold, model) in case.by_prompt(evidence, claimed.kind, "fold", "model"):
        decision, other = case.decision(fold, prompt, where), case.decision(model, prompt, where, every)
        require("model_decides_alike", decision == other, where, decision, other)


def _faithfulness_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where, every = claimed.kind, all_edges(case.claim.architecture)
    prompt, (fold, model) = case.replay(evidence, where, "fold", "model")
    is_other = case.decision(fold, prompt, where) != case.decision(model, prompt, where, every)
    require("model_decides_otherwise", is_other, where)


def _fewest_proved(case: Case, evidence: object, claimed: Property) -> None:
    circuits, expected = _asked(case, claimed)
    children = _split(evidence, "circuit", len(circuits), claimed.kind)
    for number, (edges, child) in enumerate(zip(circuits, children, strict=False)):
        where = f"{claimed.kind}, circuit {number}"
        (_suffices if edges in expected else _fails)(case, child, edges, where)


def _fewest_refuted(case: Case, evidence: object, claimed: Property) -> None:
    circuits, expected = _asked(case, claimed)
    names, tree = fields(evidence, claimed.kind, "circuit", "evidence")
    edges = read_edges(names, claimed.kind, case.claim.architecture)
    require("circuit_is_one_of_the_smaller", edges in circuits, claimed.kind, names)
    (_fails if edges in expected else _suffices)(case, tree, edges, claimed.kind)


def _asked(case: Case, claimed: Property) -> tuple[list[Edges], list[Edges]]:
    """Return the smaller circuits and those of them that must decide the task; no others may."""
    own, size, where = case.claim.edges, case.claim.architecture, claimed.kind
    if claimed.kind == "subset minimality":
        circuits, expected = smaller_circuits(own, len(own), logits_node(size)), [own]
    else:
        circuits = smaller_circuits(all_edges(size), len(own), logits_node(size))
        expected = [read_edges(list(names), where, size) for names in claimed.circuits]
        require("the_claims_circuit_is_listed", own in expected, where)
        require("listed_circuits_have_its_size", {len(one) for one in expected} == {len(own)}, where)
    require("expected_circuits_are_distinct", len(set(expected)) == len(expected), where)
    require("expected_circuits_are_among_the_smaller", set(expected) <= set(circuits), where)
    return circuits, expected


def _suffices(case: Case, evidence: object, edges: Edges, where: str) -> None:
    for prompt, place, (fold,) in case.by_prompt(evidence, where, "fold"):
        decision, answer = case.decision(fold, prompt, place, edges), case.claim.task.answers[prompt]
        require(
            "expected_circuit_decides_the_answer", decision == frozenset({answer}), place, decision, answer
        )


def _fails(case: Case, evidence: object, edges: Edges, where: str) -> None:
    prompt, (fold,) = case.replay(evidence, where, "fold")
    is_other = case.decision(fold, prompt, where, edges) != frozenset({case.claim.task.answers[prompt]})
    require("other_circuit_decides_otherwise", is_other, where)


_CHECKS: dict[str, tuple[Check, Check]] = {
    "equivalence": (_equivalence_proved, _equivalence_refuted),
    "invariance": (_invariance_proved, _invariance_refuted),
    "necessity": (_necessity_proved, _necessity_refuted),
    "robustness": (_robustness_proved, _robustness_refuted),
    "faithfulness": (_faithfulness_proved, _faithfulness_refuted),
    "subset minimality": (_fewest_proved, _fewest_refuted),
    "minimum": (_fewest_proved, _fewest_refuted),
}
"""How a proof of each property is checked, and how a refutation."""
