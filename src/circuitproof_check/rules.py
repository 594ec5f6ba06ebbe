"""The acceptance rules: what evidence must show for each property and verdict.

Obligations come from the claim. A `rule_…` function raises when its condition fails and says nothing
otherwise; what calls it walks the whole claim, so nothing is accepted for lack of evidence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from circuitproof_check.circuit import all_edges
from circuitproof_check.claim import Kind, Property
from circuitproof_check.evidence import (
    Case,
    Decision,
    Fold,
    replays,
    single_replay,
    split_by_edge,
    split_by_prompt,
)
from circuitproof_check.exact import dot, from_fractions, mix
from circuitproof_check.reading import ForgedError, fields, integer, rational, rationals, show


def _equivalence_proved(case: Case, evidence: object, claimed: Property) -> None:
    for prompt, leaf, where in split_by_prompt(case, evidence, claimed.kind.value):
        (fold,) = fields(leaf, where, "fold")
        decision = case.decision(fold, prompt, case.claim.edges, where)
        rule_decision_is_the_answer(decision, case.claim.task.answers[prompt], where)


def rule_decision_is_the_answer(decision: Decision, answer: int, where: str) -> None:
    """Equivalence: d(x) = {P(x)}."""
    if decision != frozenset({answer}):
        raise ForgedError(f"{where}: decided {sorted(decision)}, want [{answer}]")


def _equivalence_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where = claimed.kind.value
    index, fold = single_replay(evidence, where, "prompt", "fold")
    prompt = case.prompt(index, where)
    decision = case.decision(fold, prompt, case.claim.edges, where)
    rule_decision_is_not_the_answer(decision, case.claim.task.answers[prompt], where)


def rule_decision_is_not_the_answer(decision: Decision, answer: int, where: str) -> None:
    """Equivalence is refuted by a prompt with d(x) ≠ {P(x)}."""
    if decision == frozenset({answer}):
        raise ForgedError(f"{where}: the replay decides the answer {answer}, which refutes nothing")


def _invariance_proved(case: Case, evidence: object, claimed: Property) -> None:
    decided: dict[int, Decision] = {}
    for prompt, leaf, where in split_by_prompt(case, evidence, claimed.kind.value):
        (fold,) = fields(leaf, where, "fold")
        decision = case.decision(fold, prompt, case.claim.edges, where)
        rule_decision_is_clear(decision, where)
        rule_class_is_decided_alike(
            decision, decided.setdefault(case.claim.task.classes[prompt], decision), where
        )


def rule_decision_is_clear(decision: Decision, where: str) -> None:
    """Invariance, necessity and robustness: d(x) has one element."""
    if len(decision) != 1:
        raise ForgedError(f"{where}: decided {sorted(decision)}, want one candidate")


def rule_class_is_decided_alike(decision: Decision, other: Decision, where: str) -> None:
    """Invariance: the decision is the same for all prompts of a class."""
    if decision != other:
        raise ForgedError(f"{where}: decided {sorted(decision)}, its class {sorted(other)}")


def _invariance_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where = claimed.kind.value
    seen: list[tuple[int, Decision]] = []
    for entry in replays(evidence, where):
        index, fold = fields(entry, where, "prompt", "fold")
        prompt = case.prompt(index, where)
        decision = case.decision(fold, prompt, case.claim.edges, where)
        seen.append((case.claim.task.classes[prompt], decision))
    rule_replay_breaks_invariance(seen, where)


def rule_replay_breaks_invariance(seen: list[tuple[int, Decision]], where: str) -> None:
    """Invariance is refuted by a tie, or by two prompts of one class with different decisions."""
    match seen:
        case [(_, decision)] if len(decision) > 1:
            return
        case [(first, one), (second, other)] if first == second and one != other:
            return
        case _:
            raise ForgedError(f"{where}: want a tie, or two decisions of one class, got {show(seen)}")


def _necessity_proved(case: Case, evidence: object, claimed: Property) -> None:
    for edge, leaf, where in split_by_edge(case, evidence, claimed.kind.value):
        index, fold, lesion = single_replay(leaf, where, "prompt", "fold", "lesion")
        prompt = case.prompt(index, where)
        decision = case.decision(fold, prompt, case.claim.edges, where)
        without = case.decision(lesion, prompt, case.lesion(edge), where)
        rule_decision_is_clear(decision, where)
        rule_lesion_changes_the_decision(decision, without, where)


def rule_lesion_changes_the_decision(decision: Decision, without: Decision, where: str) -> None:
    """Necessity: without the edge the decision is another."""
    if decision == without:
        raise ForgedError(f"{where}: the decision {sorted(decision)} stays without the edge")


def _necessity_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where = claimed.kind.value
    index, tree = fields(evidence, where, "edge", "evidence")
    edge = integer(index, f"{where}.edge", 0, len(case.claim.edges) - 1)
    for prompt, leaf, place in split_by_prompt(case, tree, where):
        fold, lesion = fields(leaf, place, "fold", "lesion")
        decision = case.decision(fold, prompt, case.claim.edges, place)
        without = case.decision(lesion, prompt, case.lesion(edge), place)
        rule_lesion_keeps_the_decision(decision, without, place)


def rule_lesion_keeps_the_decision(decision: Decision, without: Decision, where: str) -> None:
    """Necessity is refuted where no clear decision changes without the edge."""
    if len(decision) == 1 and decision != without:
        raise ForgedError(f"{where}: {sorted(decision)} becomes {sorted(without)} without the edge")


def _robustness_proved(case: Case, evidence: object, claimed: Property) -> None:
    rule_robustness_has_no_final_norm(case)
    for prompt, leaf, where in split_by_prompt(case, evidence, claimed.kind.value):
        index, spelled = fields(leaf, where, "fold", "radius")
        fold = case.fold(index, prompt, case.claim.edges, where)
        rule_decision_is_clear(case.decide(fold), where)
        stated = None if spelled == "infinite" else rational(spelled, f"{where}.radius")
        rule_radius_is_the_radius(stated, _radius(case, fold), where)
        rule_radius_exceeds_epsilon(stated, claimed.epsilon, where)


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


def rule_robustness_has_no_final_norm(case: Case) -> None:
    """With a final norm robustness is undecided in this version."""
    if case.claim.architecture.norm is not None:
        raise ForgedError("robustness: with a final norm it can only be undecided")


def rule_radius_is_the_radius(stated: Fraction | None, radius: Fraction | None, where: str) -> None:
    """Robustness: r is the radius."""
    if stated != radius:
        raise ForgedError(f"{where}: the radius is {show(radius)}, stated {show(stated)} (None: infinite)")


def rule_radius_exceeds_epsilon(radius: Fraction | None, epsilon: Fraction, where: str) -> None:
    """Robustness: r > ε."""
    if radius is not None and radius <= epsilon:
        raise ForgedError(f"{where}: the radius {show(radius)} is not above {show(epsilon)}")


def _robustness_refuted(case: Case, evidence: object, claimed: Property) -> None:
    rule_robustness_has_no_final_norm(case)
    where = claimed.kind.value
    index, place, spelled = single_replay(evidence, where, "prompt", "fold", "eta")
    fold = case.fold(place, case.prompt(index, where), case.claim.edges, where)
    eta = rationals(spelled, f"{where}.eta")
    rule_eta_has_the_width(eta, case)
    rule_eta_is_within_epsilon(eta, claimed.epsilon)
    shift = from_fractions(eta)
    pairs = zip(fold, case.claim.task.candidates, strict=True)
    moved = tuple(logit + dot(case.forward.output_row(token), shift) for logit, token in pairs)
    rule_eta_breaks_the_decision(case.decide(fold), case.decide(moved), eta)


def rule_eta_has_the_width(eta: Fold, case: Case) -> None:
    """A perturbation has one rational per coordinate."""
    if len(eta) != case.claim.architecture.width:
        raise ForgedError(f"robustness: eta has {len(eta)} numbers, want {case.claim.architecture.width}")


def rule_eta_is_within_epsilon(eta: Fold, epsilon: Fraction) -> None:
    """The largest absolute value of η is at most ε."""
    if max(map(abs, eta)) > epsilon:
        raise ForgedError(f"robustness: eta reaches {show(max(map(abs, eta)))}, want at most {show(epsilon)}")


def rule_eta_breaks_the_decision(decision: Decision, moved: Decision, eta: Fold) -> None:
    """With η the decision is not {y} where d(x) = {y}; a tie is refuted by η = 0."""
    if len(decision) == 1 and moved == decision:
        raise ForgedError(f"robustness: with eta the decision stays {sorted(decision)}")
    if len(decision) > 1 and any(eta):
        raise ForgedError(f"robustness: {sorted(decision)} is a tie, want eta = 0")


def _faithfulness_proved(case: Case, evidence: object, claimed: Property) -> None:
    every = all_edges(case.claim.architecture)
    for prompt, leaf, where in split_by_prompt(case, evidence, claimed.kind.value):
        fold, model = fields(leaf, where, "fold", "model")
        decision = case.decision(fold, prompt, case.claim.edges, where)
        rule_model_decides_alike(decision, case.decision(model, prompt, every, where), where)


def rule_model_decides_alike(decision: Decision, model: Decision, where: str) -> None:
    """Faithfulness: the circuit's decision is the model's."""
    if decision != model:
        raise ForgedError(f"{where}: the circuit decides {sorted(decision)}, the model {sorted(model)}")


def _faithfulness_refuted(case: Case, evidence: object, claimed: Property) -> None:
    where = claimed.kind.value
    index, fold, model = single_replay(evidence, where, "prompt", "fold", "model")
    prompt = case.prompt(index, where)
    decision = case.decision(fold, prompt, case.claim.edges, where)
    every = all_edges(case.claim.architecture)
    rule_model_decides_otherwise(decision, case.decision(model, prompt, every, where), where)


def rule_model_decides_otherwise(decision: Decision, model: Decision, where: str) -> None:
    """Faithfulness is refuted by a prompt where the decisions differ."""
    if decision == model:
        raise ForgedError(f"{where}: circuit and model both decide {sorted(decision)}: nothing is refuted")


@dataclass(frozen=True, slots=True)
class Checks:
    """How the evidence of a property is checked."""

    proof: Callable[[Case, object, Property], None]
    refutation: Callable[[Case, object, Property], None]


CHECKS = {
    Kind.EQUIVALENCE: Checks(_equivalence_proved, _equivalence_refuted),
    Kind.INVARIANCE: Checks(_invariance_proved, _invariance_refuted),
    Kind.NECESSITY: Checks(_necessity_proved, _necessity_refuted),
    Kind.ROBUSTNESS: Checks(_robustness_proved, _robustness_refuted),
    Kind.FAITHFULNESS: Checks(_faithfulness_proved, _faithfulness_refuted),
}
