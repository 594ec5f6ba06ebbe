from fractions import Fraction

import pytest

from circuitproof.circuits.graph import Mlp
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import FINAL_RESIDUAL, Interface
from circuitproof.proof.battery import prove
from circuitproof.proof.counterexamples import counterexample
from circuitproof.proof.evidence import Replay
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.domain import Domain
from hand_models import ADDED, DIRECT, adder_claim, table_task
from pattern_claims import random_claim
from tiny_claims import tiny_claim

WRONG = table_task({(0,): 1, (1,): 1, (2,): 1, (4,): 0})
"""Token 1 is decided 0, and token 4 ties."""


def refuted(prop, **parts):
    """Return what refutes a property of the adder."""
    claim = adder_claim(prop, **parts)
    (answer,) = prove(claim).answers
    assert answer.verdict is Verdict.REFUTED
    return counterexample(claim, answer)


def test_a_wrong_answer_is_shown_with_the_right_one_and_by_how_much_it_trails():
    """By hand: token 1 is (1, 0), and the second logit is wanted."""
    (one,) = refuted(Equivalence(), task=WRONG).prompts
    assert (one.prompt, one.place) == ((1,), 1)
    assert (one.wanted, one.decided, one.margin) == ({1}, {0}, -1)
    assert one.eta == ()


def test_a_perturbation_is_shown_with_what_it_makes_of_the_decision():
    """The margin is that under η, which no longer leads."""
    for at in (FINAL_RESIDUAL, Interface(Mlp(0), Side.INPUT)):
        (one,) = refuted(Robustness(Fraction(3), at)).prompts
        assert one.wanted != one.decided
        assert one.margin <= 0
        assert 0 < max(map(abs, one.eta)) <= 3


def test_what_no_prompt_shows_is_said():
    """An idle edge, and a smaller circuit that suffices."""
    idle = refuted(Necessity(), task=table_task({(1,): 0, (3,): 0}))
    assert idle.prompts == ()
    assert idle.says == "no prompt needs embed -> mlp 0"
    small = refuted(SubsetMinimality(), task=table_task({(1,): 0, (3,): 0}))
    assert small.says == "all prompts are right with embed -> logits alone"
    wrong = refuted(SubsetMinimality(), task=WRONG)
    assert wrong.says == f"not all prompts are right with {', '.join(ADDED)} alone"
    assert (wrong.prompts[0].wanted, wrong.prompts[0].decided) == ({1}, {0})


def test_the_whole_model_is_what_a_faithful_circuit_is_measured_by():
    """Without its MLP the adder decides otherwise."""
    (one,) = refuted(Faithfulness(), edges=DIRECT).prompts
    assert one.wanted != one.decided


def test_a_proof_has_no_counterexample():
    """Nor has what is open."""
    claim = adder_claim(Equivalence())
    assert counterexample(claim, prove(claim).answers[0]) is None


@pytest.mark.parametrize("make", [tiny_claim, random_claim])
def test_what_is_shown_is_what_the_evidence_replays(make):
    """On random claims about lists and patterns: prompts, decisions and margins are those of the folds."""
    seen = set()
    for seed in range(24):
        claim = make(seed)
        for answer in prove(claim).answers:
            found = counterexample(claim, answer)
            assert (found is not None) is (answer.verdict is Verdict.REFUTED)
            if found is None or not isinstance(answer.evidence, Replay):
                continue
            seen.add(type(answer.prop))
            pairs = list(zip(found.prompts, answer.evidence.prompts, strict=True))
            for shown, replayed in pairs:
                assert shown.prompt == replayed.prompt
                assert (shown.place is None) is not isinstance(claim.task.domain, Domain)
                if isinstance(answer.prop, Robustness):
                    assert shown.eta == replayed.perturbation
                    assert shown.wanted == replayed.leaf.fold.decision
                    assert shown.decided != shown.wanted or len(shown.wanted) > 1
                else:
                    assert shown.decided == replayed.leaf.fold.decision
                    assert shown.wanted != shown.decided or len(shown.decided) > 1
                assert shown.wanted is None or len(shown.wanted) > 1 or shown.margin <= 0
    assert {Equivalence, Invariance, Robustness} <= seen
