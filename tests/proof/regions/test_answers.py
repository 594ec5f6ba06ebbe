from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.graph import Mlp
from circuitproof.errors import InputError
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface, Span
from circuitproof.models.operators import BandNorm, LeakyRelu, Lift
from circuitproof.proof.battery import prove
from circuitproof.proof.effort import Pace
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.search import Effort, Method
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from hand_models import ADDED, PLAIN, adder_claim, circuit_of, table_task

LEAKY = replace(PLAIN, activation=LeakyRelu(Fraction(1, 100)))
BEFORE = Interface(Mlp(0), Side.INPUT)
TOKEN = table_task({(0,): 1})
"""Token 0 is (2, 1); with the MLP the logits are (2, 3)."""


def answered(epsilon, at, tmp_path, **options):
    """Return the answer about the adder, after the checker has agreed with it."""
    effort = options.pop("effort", Effort())
    battery = prove(adder_claim(Robustness(Fraction(epsilon), at), **options), effort)
    write_bundle(tmp_path / "bundle", battery)
    outcomes = {
        Verdict.PROVED: Outcome.VALID,
        Verdict.REFUTED: Outcome.REFUTED,
        Verdict.UNDECIDED: Outcome.INCOMPLETE,
    }
    found, sentence = check(tmp_path / "bundle")
    assert found is outcomes[battery.answers[0].verdict], sentence
    return battery.answers[0]


@pytest.mark.parametrize(
    ("epsilon", "verdict"),
    [("49/100", Verdict.PROVED), ("1/2", Verdict.REFUTED), ("3", Verdict.REFUTED)],
)
def test_a_perturbation_before_the_mlp(epsilon, verdict, tmp_path):
    """By hand: the MLP adds 2·max(1 + η₂, 0) to 1, and 2 is to be beaten; at η₂ = −1/2 they are level."""
    answer = answered(epsilon, BEFORE, tmp_path, task=TOKEN)
    assert answer.verdict is verdict
    if verdict is Verdict.REFUTED:
        (replayed,) = answer.evidence.prompts
        assert replayed.perturbation[1] <= Fraction(-1, 2)


def test_beyond_the_bend_it_takes_splits(tmp_path):
    """Token 1 is (1, 0), decided 0: its second number may be anything up to 1/2, bent at zero."""
    task = table_task({(1,): 0})
    proved = answered("49/100", BEFORE, tmp_path / "a", task=task, sizes=LEAKY)
    assert proved.verdict is Verdict.PROVED
    refuted = answered("1/2", BEFORE, tmp_path / "b", task=task, sizes=LEAKY)
    assert refuted.verdict is Verdict.REFUTED
    traced = answered("49/100", BEFORE, tmp_path / "c", task=task, sizes=LEAKY, effort=Effort(Method.BRANCH))
    assert traced.evidence.reason == "prompt 0 is open: branch unstable: activation at 1"


def test_after_the_mlp_nothing_bends(tmp_path):
    """One leaf, and the radius is the margin over the distance of the rows: 1/2."""
    after = Interface(Mlp(0), Side.OUTPUT)
    assert answered("49/100", after, tmp_path / "a", task=TOKEN).verdict is Verdict.PROVED
    refuted = answered("1/2", after, tmp_path / "b", task=TOKEN)
    assert refuted.evidence.prompts[0].perturbation == (Fraction(1, 2), Fraction(-1, 2))


def test_every_position_has_coordinates_in_a_certificate(tmp_path):
    """Those before the last change nothing here, and are zero."""
    task = table_task({(1, 0): 1})
    everywhere = Interface(Mlp(0), Side.OUTPUT, Span.ALL)
    refuted = answered("1/2", everywhere, tmp_path / "a", task=task)
    assert refuted.evidence.prompts[0].perturbation == (0, 0, Fraction(1, 2), Fraction(-1, 2))
    assert answered("1/3", everywhere, tmp_path / "b", task=task).verdict is Verdict.PROVED


def test_a_budget_that_ends_says_how_far_it_came(tmp_path):
    """Closed and open leaves, and the radius below which nothing is open."""
    sizes = replace(PLAIN, norm=BandNorm(Fraction(4), Fraction(8), Lift.REFERENCE))
    answer = answered(
        "1/4",
        Interface(),
        tmp_path,
        weights={"logits.norm.scale": [1, 1], "embed.token": [[1, 1], [2, 1], [1, 1], [4, 1], [3, 1]]},
        sizes=sizes,
        edges=("embed -> logits",),
        task=table_task({(1,): 0}),
        effort=Effort(budget=1),
    )
    assert answer.verdict is Verdict.PROVED or "proved below" in answer.evidence.reason


def test_products_are_left_open_with_their_node(tmp_path):
    """The head's query and key are both perturbed."""
    edges = ("embed -> head 0.0", "head 0.0 -> logits", "embed -> logits")
    weights = {f"head.0.0.{role}.weight": [[1, 0], [0, 1]] for role in ("query", "key", "value", "output")}
    at = Interface(circuit_of(edges).nodes()[1], Side.INPUT, Span.ALL)
    answer = answered(
        "1/9", at, tmp_path, edges=edges, weights=weights, task=table_task({(0, 1): 0, (1, 3): 0})
    )
    assert answer.verdict is Verdict.UNDECIDED
    assert answer.evidence.reason.startswith("prompt 0 and 1 others are open: head 0.0: a perturbed query")


def test_a_claim_about_a_place_that_the_circuit_lacks_is_refused():
    """Before anything is computed."""
    with pytest.raises(InputError, match="the circuit does not use mlp 0"):
        adder_claim(Robustness(Fraction(1), BEFORE), edges=("embed -> logits",))
    assert "embed -> mlp 0" in ADDED


class Hasty(Pace):
    """A pace that leaves out all but the first of what it is to go through."""

    def each(self, what, items):
        return iter(list(super().each(what, items))[:1])


def test_balls_of_some_prompts_prove_nothing_of_all():
    """Obligations are counted by the task, and not by what a loop has come to."""
    claim = adder_claim(Robustness(Fraction(1, 100), BEFORE))
    assert prove(claim).verdict is Verdict.PROVED
    assert claim.task.size > 1
    with pytest.raises(ValueError, match="not enough values"):
        prove(claim, Effort(pace=Hasty()))
