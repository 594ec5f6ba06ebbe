"""The certificate: what evidence must show for each property and verdict.

Obligations come from the claim. What states a rule walks the whole claim, so nothing is accepted for lack of
evidence. Evidence is made of splits that exhaust a question, replays of single prompts, and folds: rows of
logits, which are compared with what the checker computes itself.
"""

from collections.abc import Callable
from enum import Enum

from . import identity, robustness, symbolic
from .architecture import Edges, all_edges, logits_node, read_edges, smaller_circuits
from .case import Case, Decision, check_clear, split
from .claim import Claim, Property, check_format, read_property
from .forward import Forward
from .reading import fields, integer, items, rationals, require, text


class Verdict(Enum):
    """How a property is answered."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


def judge(value: object, claim_digest: str, claim: Claim, forward: Forward) -> tuple[Verdict, ...]:
    """Return the verdict on each property of the claim, with every piece of evidence checked."""
    where = "certificate"
    spelled, digest, rows, answers = fields(value, where, "format", "claim", "folds", "answers")
    check_format(spelled, "circuitproof certificate 1")
    require("certificate_is_of_the_claim", digest == claim_digest, where, digest, claim_digest)
    case = Case(claim, forward, tuple(rationals(row, "folds") for row in items(rows, "folds")))
    symbolic.check_shown(case)
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
        _checks(case, claimed)[0](case, evidence, claimed)
        return Verdict.PROVED
    if verdict == "refuted":
        _checks(case, claimed)[1](case, evidence, claimed)
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


def _invariance_proved(case: Case, evidence: object, claimed: Property) -> None:
    decided: dict[int, Decision] = {}
    for prompt, where, (fold,) in case.by_prompt(evidence, claimed.kind, "fold"):
        decision = case.decision(fold, prompt, where)
        check_clear(decision, where)
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
    for edge, leaf in enumerate(split(evidence, "edge", len(case.claim.edges), claimed.kind)):
        where = f"{claimed.kind}, edge {edge}"
        prompt, (fold, lesion) = case.replay(leaf, where, "fold", "lesion")
        decision = case.decision(fold, prompt, where)
        check_clear(decision, where)
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
    children = split(evidence, "circuit", len(circuits), claimed.kind)
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
    "robustness": (robustness.proved, robustness.refuted),
    "faithfulness": (_faithfulness_proved, _faithfulness_refuted),
    "subset minimality": (_fewest_proved, _fewest_refuted),
    "minimum": (_fewest_proved, _fewest_refuted),
    "lesion identity": (identity.proved, identity.refuted),
}
"""How a proof of each property is checked, and how a refutation."""
_OF_PATTERNS: dict[str, tuple[Check, Check]] = {
    "equivalence": (symbolic.proved, _equivalence_refuted),
    "invariance": (symbolic.proved, _invariance_refuted),
    "necessity": (_necessity_proved, symbolic.idle),
    "robustness": (symbolic.proved, robustness.refuted),
}
"""The same where the claim is about every prompt of a pattern."""


def _checks(case: Case, claimed: Property) -> tuple[Check, Check]:
    if case.claim.declared is None:
        return _CHECKS[claimed.kind]
    is_known = claimed.kind in _OF_PATTERNS
    require("patterns_have_four_properties", is_known, claimed.kind)
    return _OF_PATTERNS[claimed.kind]
