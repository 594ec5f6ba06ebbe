"""The certificate: what evidence must show for each property and verdict.

Obligations come from the claim. What states a rule walks the whole claim, so nothing is accepted for lack of
evidence. Evidence is made of splits that exhaust a question, replays of single prompts, and folds: rows of
logits, which are compared with what the checker computes itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from . import accuracy, identity, measures
from .architecture import (
    Edges,
    all_edges,
    key_of_edges,
    logits_node,
    read_edges,
    readers,
    smaller_circuits,
)
from .case import Case, Decision, Fold, check_clear, split
from .claim import Claim, Property, check_format, check_positions, read_property
from .counted import MEASURES
from .enclosed import cost
from .enclosed import robustness as enclosed
from .enclosed.forward import Enclosures
from .forward import Forward
from .gates import check_reach
from .patterns import walk
from .reading import fields, integer, items, mapping, rationals, require, text
from .regions import robustness
from .remarks import found_remarks
from .sums import answers as sums


class Verdict(Enum):
    """How a property is answered."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


Remarks = tuple[str, ...]
PRECISIONS = (16, 4096)
"""The least and the largest precision of enclosed arithmetic."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a certificate shows of its claim."""

    answers: tuple[tuple[Verdict, Remarks], ...]
    """The verdict on each property, with its remarks."""
    precision: int
    """That of enclosed arithmetic; of exact arithmetic it is 0."""
    count: int
    """How many prompts the claim is about."""
    folds: tuple[Fold, ...]
    """The rows that evidence refers to, each as it is computed."""


def judge(value: object, claim_digest: str, claim: Claim, forward: Forward) -> Judgement:
    """Return the verdict on each property of the claim, with every piece of evidence checked, and remarks."""
    where, names = "certificate", ["precision"] if claim.is_enclosed else []
    listed = fields(value, where, "format", "claim", "folds", "answers", *names)
    spelled, digest, rows, answers, *stated = listed
    check_format(spelled, "circuitproof certificate 3")
    require("certificate_is_of_the_claim", digest == claim_digest, where, digest, claim_digest)
    precision = integer(stated[0], f"{where}.precision", *PRECISIONS) if stated else 0
    enclosures = Enclosures(forward, precision) if stated else None
    case = Case(claim, forward, tuple(map(_read_fold, items(rows, "folds"))), enclosures)
    walk.check_prompts(case)
    for claimed in claim.properties:
        if claimed.kind == "robustness":
            check_positions(claimed, walk.shortest(case))
    for claimed in claim.properties:
        _check_claimed(case, claimed)
    entries, wanted = items(answers, "answers"), len(claim.properties)
    require("every_property_is_answered", len(entries) == wanted, where, len(entries), wanted)
    cost.foresee_work(case, entries)
    answered = [
        _judge_answer(case, claimed, entry) for claimed, entry in zip(claim.properties, entries, strict=False)
    ]
    idle = set(range(len(case.folds))) - case.referred.keys()
    require("every_fold_is_referred_to", not idle, where, idle)
    proved = [p for p, (v, _) in zip(claim.properties, answered, strict=False) if v is Verdict.PROVED]
    for claimed, (_, stated), entry in zip(claim.properties, answered, entries, strict=False):
        remarks = found_remarks(case, claimed, proved, mapping(entry, where)["evidence"])
        require("remarks_are_those_that_apply", stated == remarks, claimed.kind, stated, remarks)
    answers = tuple((verdict, tuple(remarks)) for verdict, remarks in answered)
    folds = tuple(case.referred[index] for index in sorted(case.referred))
    return Judgement(answers, precision, walk.count(case), folds)


def _read_fold(value: object) -> Fold | str:
    """Return a row of logits, or the digest of one."""
    return value if isinstance(value, str) else rationals(value, "folds")


def _check_claimed(case: Case, claimed: Property) -> None:
    """Demand what a property must be whatever is answered to it."""
    if case.claim.declared is not None:
        _checks(case, claimed)
    is_about_edges = claimed.kind in ("necessity", "subset minimality", "minimum")
    require("properties_of_edges_have_edges", case.claim.edges or not is_about_edges, claimed.kind)
    if claimed.kind == "minimum":
        _expected(case, claimed)
    if claimed.kind == "lesion identity":
        identity.check_tables(case.claim, claimed)
    if claimed.kind == "accuracy" and case.claim.declared is not None:
        sums.check_numbers(case, claimed)


def _judge_answer(case: Case, claimed: Property, value: object) -> tuple[Verdict, list[str]]:
    where = claimed.kind
    entry, verdict, evidence, listed = fields(value, where, "property", "verdict", "evidence", "remarks")
    is_pattern = case.claim.declared is not None
    answered = read_property(entry, where, len(case.claim.prompts), is_pattern=is_pattern)
    require("answers_are_to_the_property", answered == claimed, where, answered)
    require("verdict_is_known", verdict in [member.value for member in Verdict], where, verdict)
    remarks = [text(remark, where) for remark in items(listed, where)]
    if verdict == "proved":
        _checks(case, claimed)[0](case, evidence, claimed)
        return Verdict.PROVED, remarks
    if verdict == "refuted":
        _checks(case, claimed)[1](case, evidence, claimed)
        return Verdict.REFUTED, remarks
    check_reach(case.claim, claimed, where)
    text(fields(evidence, where, "open")[0], where)
    return Verdict.UNDECIDED, remarks


Check = Callable[[Case, object, Property], None]


def _equivalence_proved(case: Case, evidence: object, claimed: Property) -> None:
    for prompt, where, _, (fold,) in case.by_prompt(evidence, claimed, claimed.kind, case.claim.edges):
        decision, answer = case.decision(fold, prompt, where), case.claim.task.answers[prompt]
        require("decision_is_the_answer", decision == frozenset({answer}), where, decision, answer)


def _equivalence_refuted(case: Case, evidence: object, claimed: Property) -> None:
    prompt, (fold,) = case.replay(evidence, claimed, claimed.kind)
    is_other = case.decision(fold, prompt, claimed.kind) != frozenset({case.claim.task.answers[prompt]})
    require("decision_is_not_the_answer", is_other, claimed.kind)


def _invariance_proved(case: Case, evidence: object, claimed: Property) -> None:
    decided: dict[int, Decision] = {}
    for prompt, where, _, (fold,) in case.by_prompt(evidence, claimed, claimed.kind, case.claim.edges):
        decision = case.decision(fold, prompt, where)
        check_clear(decision, where)
        first = decided.setdefault(case.claim.task.classes[prompt], decision)
        require("classes_are_decided_alike", decision == first, where, decision, first)


def _invariance_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where = claimed.kind
    seen: list[tuple[int, Decision]] = []
    for prompt, (fold,) in case.replays(evidence, claimed, where):
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
        prompt, (fold, lesion) = case.replay(leaf, claimed, where)
        decision = case.decision(fold, prompt, where)
        check_clear(decision, where)
        is_changed = decision != case.decision(lesion, prompt, where, case.lesion(edge))
        require("lesion_changes_the_decision", is_changed, where, decision)


def _necessity_refuted(case: Case, evidence: object, claimed: Property) -> None:
    index, tree = fields(evidence, claimed.kind, "edge", "evidence")
    edge = integer(index, f"{claimed.kind}.edge", 0, len(case.claim.edges) - 1)
    circuits = case.claim.edges, case.lesion(edge)
    for prompt, where, _, (fold, lesion) in case.by_prompt(tree, claimed, claimed.kind, *circuits):
        decision = case.decision(fold, prompt, where)
        without = case.decision(lesion, prompt, where, case.lesion(edge))
        is_kept = len(decision) > 1 or decision == without
        require("lesion_keeps_the_decision", is_kept, where, decision, without)


def _faithfulness_proved(case: Case, evidence: object, claimed: Property) -> None:
    every = all_edges(case.claim.architecture)
    circuits = case.claim.edges, every
    for prompt, where, _, (fold, model) in case.by_prompt(evidence, claimed, claimed.kind, *circuits):
        decision, other = case.decision(fold, prompt, where), case.decision(model, prompt, where, every)
        require("model_decides_alike", decision == other, where, decision, other)


def _faithfulness_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where, every = claimed.kind, all_edges(case.claim.architecture)
    prompt, (fold, model) = case.replay(evidence, claimed, where)
    is_other = case.decision(fold, prompt, where) != case.decision(model, prompt, where, every)
    require("model_decides_otherwise", is_other, where)


def _agreement_proved(case: Case, evidence: object, claimed: Property) -> None:
    circuits = case.claim.edges, case.claim.other
    for prompt, where, _, (fold, other) in case.by_prompt(evidence, claimed, claimed.kind, *circuits):
        decision = case.decision(fold, prompt, where)
        check_clear(decision, where)
        second = case.decision(other, prompt, where, case.claim.other)
        require("circuits_decide_alike", decision == second, where, decision, second)


def _agreement_refuted(case: Case, evidence: object, claimed: Property) -> None:
    prompt, (fold, other) = case.replay(evidence, claimed, claimed.kind)
    decision = case.decision(fold, prompt, claimed.kind)
    second = case.decision(other, prompt, claimed.kind, case.claim.other)
    is_apart = decision != second or len(decision) > 1
    require("circuits_decide_otherwise_or_tie", is_apart, claimed.kind, decision, second)


def _fewest_proved(case: Case, evidence: object, claimed: Property) -> None:
    where, expected = claimed.kind, _expected(case, claimed)
    _, children = fields(evidence, where, "split", "children")
    circuits = _smaller(case, claimed, len(items(children, where)))
    entries = split(evidence, "circuit", len(circuits), where)
    _check_expected(expected, circuits, where)
    sufficing = set(map(key_of_edges, expected))
    for number, child in enumerate(entries):
        check = _suffices if key_of_edges(circuits[number]) in sufficing else _fails
        check(case, child, claimed, circuits[number], f"{where}, circuit {number}")


def _fewest_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where, expected = claimed.kind, _expected(case, claimed)
    circuits = _smaller(case, claimed)
    _check_expected(expected, circuits, where)
    names, tree = fields(evidence, where, "circuit", "evidence")
    edges = read_edges(names, where, case.claim.architecture, case.claim.shape)
    require("circuit_is_one_of_the_smaller", edges in circuits, where, names)
    (_fails if edges in expected else _suffices)(case, tree, claimed, edges, where)


def _smaller(case: Case, claimed: Property, most: int | None = None) -> list[Edges]:
    """Return the smaller circuits, but no more than just enough of them to see that they are not so many."""
    own, size = case.claim.edges, case.claim.architecture
    edges = own if claimed.kind == "subset minimality" else all_edges(size, case.claim.shape)
    found: list[Edges] = []
    may_be_blind = case.claim.ablation.is_uniform and len(set(case.claim.task.answers)) > 1
    fed_by = readers(case.claim.programs) if may_be_blind else None
    for circuit in smaller_circuits(edges, len(own), logits_node(size), fed_by):
        found.append(circuit)
        if most is not None and len(found) > most:
            break
    return found


def _expected(case: Case, claimed: Property) -> list[Edges]:
    """Return the circuits that must decide the task; no other of the smaller ones may."""
    own, where = case.claim.edges, claimed.kind
    if claimed.kind == "subset minimality":
        return [own]
    size, shape = case.claim.architecture, case.claim.shape
    expected = [read_edges(list(names), where, size, shape) for names in claimed.circuits]
    require("the_claims_circuit_is_listed", own in expected, where)
    require("listed_circuits_have_its_size", {len(one) for one in expected} == {len(own)}, where)
    are_distinct = len(set(map(key_of_edges, expected))) == len(expected)
    require("expected_circuits_are_distinct", are_distinct, where)
    return expected


def _check_expected(expected: list[Edges], circuits: list[Edges], where: str) -> None:
    found, wanted = set(map(key_of_edges, circuits)), set(map(key_of_edges, expected))
    require("expected_circuits_are_among_the_smaller", wanted <= found, where)


def _suffices(case: Case, evidence: object, claimed: Property, edges: Edges, where: str) -> None:
    for prompt, place, _, (fold,) in case.by_prompt(evidence, claimed, where, edges):
        decision, answer = case.decision(fold, prompt, place, edges), case.claim.task.answers[prompt]
        is_right = decision == frozenset({answer})
        require("expected_circuit_decides_the_answer", is_right, place, decision, answer)


def _fails(case: Case, evidence: object, claimed: Property, edges: Edges, where: str) -> None:
    prompt, (fold,) = case.replay(evidence, claimed, where)
    is_other = case.decision(fold, prompt, where, edges) != frozenset({case.claim.task.answers[prompt]})
    require("other_circuit_decides_otherwise", is_other, where)


_CHECKS: dict[str, tuple[Check, Check]] = {
    "equivalence": (_equivalence_proved, _equivalence_refuted),
    "invariance": (_invariance_proved, _invariance_refuted),
    "necessity": (_necessity_proved, _necessity_refuted),
    "robustness": (robustness.proved, robustness.refuted),
    "faithfulness": (_faithfulness_proved, _faithfulness_refuted),
    "agreement": (_agreement_proved, _agreement_refuted),
    "subset minimality": (_fewest_proved, _fewest_refuted),
    "minimum": (_fewest_proved, _fewest_refuted),
    "accuracy": (accuracy.proved, accuracy.refuted),
    **dict.fromkeys(MEASURES, (measures.proved, measures.refuted)),
    "lesion identity": (identity.proved, identity.refuted),
}
"""How a proof of each property is checked, and how a refutation."""
_OF_PATTERNS: dict[str, tuple[Check, Check]] = {
    "equivalence": (walk.proved, _equivalence_refuted),
    "invariance": (walk.proved, _invariance_refuted),
    "necessity": (_necessity_proved, walk.idle),
    "robustness": (walk.proved, robustness.refuted),
    "agreement": (walk.proved, _agreement_refuted),
}
"""The same where the claim is about every prompt of a pattern."""
_OF_ENCLOSED_PATTERNS: dict[str, tuple[Check, Check]] = {
    "equivalence": (sums.proved, _equivalence_refuted),
    "invariance": (sums.proved, _invariance_refuted),
    "necessity": (_necessity_proved, sums.not_refuted),
    "accuracy": (sums.accuracy_proved, sums.accuracy_refuted),
}
"""The same where its logits are enclosed."""


def _checks(case: Case, claimed: Property) -> tuple[Check, Check]:
    if case.claim.declared is not None:
        checks = _OF_ENCLOSED_PATTERNS if case.claim.is_enclosed else _OF_PATTERNS
        require("patterns_have_these_properties", claimed.kind in checks, claimed.kind)
        return checks[claimed.kind]
    if case.claim.is_enclosed and claimed.kind == "robustness":
        return enclosed.proved, enclosed.refuted
    return _CHECKS[claimed.kind]
