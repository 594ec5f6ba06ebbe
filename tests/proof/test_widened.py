"""Claims in an arithmetic that does not know every decision: unknown is never proved and never refuted."""

import os
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, model_of, prompts_of
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import InputError, UsageError
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import counterexample
from circuitproof.proof.fold import fold
from circuitproof.proof.minimal import SearchLimit, search_minimum
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.regions.robustness import radii
from circuitproof.proof.trim import trim
from circuitproof.proof.verdict import Verdict
from circuitproof.reports.counterexamples import counterexample_lines
from circuitproof.solvers.obligations import Questions
from circuitproof.verbs.counterexamples import counterexample_to_json
from circuitproof_check.main import Outcome, check
from hand_models import freeze, table_task
from mutants import applied_mutants, placed
from pattern_claims import random_claim
from tiny_claims import tiny_claim
from widened import HUGE, RADII, Widened, disagreements, verdicts, widened

SEEDS = 3 * int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30"))
SIZES = (Equivalence(), Invariance(), Necessity(), SubsetMinimality())


def tiny(seed):
    """Return a claim about circuits that are smaller, or of all that solvers are asked."""
    return tiny_claim(seed, *(SIZES if seed % 2 else ()))


def ablated(seed):
    """Return a claim about a circuit with ports or with cut edges that carry something."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = model_of(draw, seed)
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit, frozen = circuit_of(draw, model, ablation_of(draw, prompts)), freeze(model.float())
    if not circuit.edges or (circuit.ablation == ZERO and not reads_prompt(circuit, frozen.programs)):
        return ablated(seed + 10**6)
    decided = fold(frozen, CANDIDATES, [circuit], prompts).of(circuit)
    answers = {prompt: CANDIDATES[one.leader] for prompt, one in zip(prompts, decided, strict=True)}
    task = table_task(answers, classes=[draw.randint(0, 1) for _ in answers], candidates=CANDIDATES)
    asked = (Equivalence(), Invariance(), Necessity(), Faithfulness())
    try:
        return Claim(frozen, circuit, task, (*asked, Agreement(draw.choice(circuit.lesions()))))
    except InputError:  # nothing of the lesion reads a prompt, or the edge was dead
        return Claim(frozen, circuit, task, asked)


def pushed(seed):
    """Return a claim of robustness that has radii, none of them just what is claimed."""
    return tiny_claim(3 * seed, Robustness(Fraction(3, 7)))


@pytest.mark.parametrize("make", [tiny, ablated, pushed])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_decided_is_so_exactly_and_a_larger_radius_decides_no_more(seed, make):
    """Whatever the radius; with a huge one nothing is decided."""
    claim = make(seed)
    assert not disagreements(claim, seed)
    assert set(verdicts(widened(claim, HUGE, seed))) == {Verdict.UNDECIDED}


def ties(claim):
    """Say whether some circuit ties on a prompt, or a radius is just what is claimed."""
    folded = fold(claim.frozen, claim.task.candidates, claim.circuits(), claim.task.prompts)
    if not all(one.is_clear for one in folded.folds):
        return True
    sizes = radii(folded.of(claim.circuit), claim.directions())
    return any(prop.epsilon in {size.value for size in sizes} for prop in robust(claim))


def robust(claim):
    """Return what is claimed of robustness."""
    return [prop for prop in claim.properties if isinstance(prop, Robustness)]


def test_without_a_radius_all_is_decided_but_ties_and_balls():
    """Ties cannot be seen, and balls are searched in exact numbers."""
    clear = [claim for claim in map(tiny, range(SEEDS)) if not ties(claim)]
    assert len(clear) > SEEDS / 8
    for claim in clear:
        kept = [p for p in claim.properties if not isinstance(p, Robustness) or p.has_radii(claim.frozen)]
        asked = replace(claim, properties=tuple(kept))
        assert verdicts(widened(asked, Fraction(0))) == verdicts(asked)


def test_every_verdict_is_reached():
    """Otherwise that nothing is wrong would say nothing."""
    found = {
        (prop.kind, verdict)
        for seed in range(60)
        for claim in (tiny(seed), ablated(seed), pushed(seed))
        for prop, verdict in zip(claim.properties, verdicts(widened(claim, Fraction(1, 4))), strict=True)
    }
    kinds = {*map(type, SIZES), Robustness, Faithfulness, Agreement}
    assert found == {(kind.kind, verdict) for kind in kinds for verdict in Verdict}


GUARDS = (
    ("proof/enclosed.py", "Enclosed.__post_init__", "choice-true"),
    ("proof/enclosed.py", "Enclosed.__post_init__", "compare-edge"),
    ("proof/known.py", "divide", "compare-flip"),
    ("proof/known.py", "divide", "filter-drop"),
    ("proof/known.py", "is_changed", "choice-true"),
    ("proof/known.py", "is_clear", "choice-false"),
    ("proof/known.py", "same", "if-false"),
    ("proof/known.py", "same", "operand-drop"),
    ("proof/findings.py", "EdgeWitnesses.is_needed", "choice-false"),
    ("proof/properties/fewest.py", "_trees", "filter-drop"),
    ("proof/regions/robustness.py", "keeps", "choice-false"),
    ("proof/properties/each_prompt.py", "for_every_prompt", "if-false"),
    ("proof/properties/invariance.py", "Invariance.answer_list", "if-false"),
    ("proof/properties/necessity.py", "Necessity.answer_list", "if-false"),
)
"""Where a decision that is not known is kept from being taken for one that is: file, function, change."""


def is_noticed(mutant):
    """Say whether a changed prover fails, or decides what is not so exactly."""
    for seed in range(24):
        for make in (tiny, ablated, pushed):
            claim = make(seed)
            exact = verdicts(claim)
            try:
                with applied_mutants(mutant):
                    found = [verdicts(widened(claim, radius, seed)) for radius in (RADII[0], RADII[2], HUGE)]
            except Exception:  # noqa: BLE001  # a prover that stops has proved nothing
                return True
            pairs = [pair for one in found for pair in zip(one, exact, strict=True)]
            if any(one is not Verdict.UNDECIDED and one is not other for one, other in pairs):
                return True
    return False


@pytest.mark.parametrize("place", GUARDS, ids=lambda place: " ".join(place[1:]))
def test_each_guard_is_missed_when_it_is_gone(place):
    """Otherwise agreement with the exact answers would say nothing about it."""
    found = placed(*place)
    assert found
    assert [mutant.name for mutant in found if not is_noticed(mutant)] == []


def test_what_is_open_is_counted_with_its_margin_and_radius():
    """A reader sees how much is missing."""
    claim = widened(tiny_claim(4, Equivalence(), Necessity()), HUGE)
    reasons = [answer.evidence.reason for answer in prove(claim).answers]
    count, edges = claim.task.size, len(claim.circuit)
    assert reasons[0].startswith(f"{count} of {count} prompts are open, as logits are known up to a radius: ")
    assert reasons[1].startswith(f"{edges} of {edges} edges are open, as logits are known up to a radius: ")
    assert all("the smallest margin is " in reason and " with a radius of " in reason for reason in reasons)


@pytest.mark.parametrize("seed", range(40))
def test_trimming_takes_no_edge_that_might_matter(seed):
    """What is left decides every prompt as before, exactly."""
    claim = tiny(seed)
    for radius in RADII:
        left = trim(claim.frozen, claim.task, claim.circuit, Widened(radius, seed))
        folded = fold(claim.frozen, claim.task.candidates, [claim.circuit.live(), left], claim.task.prompts)
        before, after = (folded.of(one) for one in (claim.circuit.live(), left))
        assert [one.decision for one in before] == [one.decision for one in after]
        assert radius < HUGE or left == claim.circuit.live()


@pytest.mark.parametrize("seed", range(40))
def test_a_search_for_the_fewest_edges_ends_where_it_is_open(seed):
    """Its lower bound holds, and a minimum that it finds is the exact one."""
    claim = tiny(seed)
    exact = search_minimum(claim.frozen, claim.task, budget=400, most=2)
    for radius in RADII:
        arithmetic = Widened(radius, seed)
        found = search_minimum(claim.frozen, claim.task, budget=400, most=2, arithmetic=arithmetic)
        assert found.refuted_below <= exact.refuted_below
        assert not found.minimum or found.minimum == exact.minimum
        if radius == HUGE:
            assert found.ended_by is SearchLimit.OPEN


def test_counterexamples_are_shown_in_the_arithmetic_of_the_claim():
    """With their margins as they are known; a perturbed prompt may be replayed and not be decided."""
    shown = []
    for seed in range(60):
        claim = widened((tiny, pushed)[seed % 2](seed), Fraction(1, 64), seed)
        for answer in prove(claim).answers:
            if answer.verdict is Verdict.REFUTED:
                found = counterexample(claim, answer)
                shown += counterexample_lines(claim.task, found)
                counterexample_to_json(claim.task, found)
    assert any(" ± " in line for line in shown)
    assert any("where " in line for line in shown)


def test_a_pattern_is_not_claimed_in_an_enclosing_arithmetic():
    """Margins over regions are computed in exact numbers."""
    claim = random_claim(0)
    with pytest.raises(InputError, match="widened arithmetic is not known over patterns; list prompts"):
        widened(claim, Fraction(1))


def test_solvers_are_not_asked_in_an_enclosing_arithmetic():
    """They compute in exact numbers."""
    with pytest.raises(
        UsageError, match="solvers compute in exact numbers, the claim's arithmetic is widened"
    ):
        Questions(widened(tiny(1), Fraction(1))).obligations(Equivalence())


@pytest.mark.parametrize("radius", [Fraction(0), HUGE])
def test_a_checker_knows_no_other_enclosing_arithmetic(radius, tmp_path):
    """Proved, refuted or open: the checker does not know the arithmetic, and takes no leaf of it as exact."""
    exact = tiny_claim(4, Equivalence(), Necessity())
    battery = prove(widened(exact, radius))
    write_bundle(tmp_path / "named", battery)
    outcome, sentence = check(tmp_path / "named")
    assert outcome is Outcome.INVALID
    assert "widened" in sentence
    write_bundle(tmp_path / "exact", replace(battery, claim=exact))
    assert check(tmp_path / "exact")[0] is (Outcome.INCOMPLETE if radius else Outcome.INVALID)
