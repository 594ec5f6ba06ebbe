import os
from dataclasses import replace
from fractions import Fraction

import pytest
import torch

from circuitproof.errors import ExitCode, InputError, NotExactError
from circuitproof.files.canonical import canonical_json
from circuitproof.importers.release import import_release
from circuitproof.models.operators import Attention, LayerNorm
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.reports.results import radii_said
from circuitproof.reports.said import text_of
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.verbs.radii import find_radii
from circuitproof.verbs.verification import PerturbationSite, Request, verify
from hand_models import IDENTITY, freeze, quote_model, table_task
from models import random_model, tiny_architecture

SOFTMAX = replace(tiny_architecture(attention=Attention.SOFTMAX), vocabulary=5)


@pytest.fixture
def model(tmp_path):
    """Return the directory of a hand-made model that closes quotes with two edges."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_without_a_norm_radii_are_margins_over_distances(model):
    """Margin 1 and rows two apart; the residual's largest coordinate is 1."""
    found = find_radii(model, "quotes", None, PerturbationSite(), Effort(budget=100))
    assert found.distribution() == dict.fromkeys(("min", "median", "max"), Fraction(1, 2))
    assert found.distribution(is_relative=True) == found.distribution()
    assert found.proved == Fraction(1, 2)
    assert found.exit_code is ExitCode.GOOD
    assert len(found.to_json()["prompts"]) == 128


def test_inside_the_circuit_radii_are_searched_for(model):
    """What the head reads is copied, so its radius is that of what it writes, at the position it looks at."""
    found = find_radii(model, "quotes", None, PerturbationSite("head 0.0 input", "all"), Effort(budget=100))
    assert found.distribution()["min"] == Fraction(1, 2)
    assert all(one.bracket.is_attained for one in found.prompts)


def test_a_radius_for_which_there_was_no_time_is_unknown_and_not_the_weakest(model):
    """Of nothing known nothing is said."""
    over = Effort(pace=Pace(deadline=0))
    found = find_radii(model, "quotes", None, PerturbationSite("head 0.0 input", "all"), over)
    assert found.exit_code is ExitCode.UNDECIDED
    assert (found.unknown, found.weakest) == (128, ())
    assert "128 radii unknown: there was no time for them" in list(radii_said(found))


def test_a_softmax_model_has_radii_between_the_bounds_of_its_logits():
    """What verify proves at the lower bound and refutes above the upper one."""
    frozen = freeze(random_model(SOFTMAX))
    task = table_task({(1, 2): 0, (3,): 1, (4, 0, 3): 2}, candidates=(0, 1, 2))
    found = find_radii(frozen, task, None, PerturbationSite(), Effort())
    assert (found.exit_code, len(found.known()), found.unknown) == (ExitCode.GOOD, 3, 0)
    for one in found.brackets:
        assert 0 < one.lower < one.upper < one.lower + Fraction(1, 1 << 40)
    least = min(found.brackets, key=lambda one: one.lower)
    verdicts = [answered(frozen, task, size) for size in (found.proved, least.upper + Fraction(1, 1 << 40))]
    assert verdicts == [Verdict.PROVED, Verdict.REFUTED]
    assert "3 of 3 radii known to within" in text_of(radii_said(found))
    assert found.to_json()["precision"] == 128


def answered(frozen, task, size):
    """Return the verdict on robustness at the final residual."""
    return verify(
        Request(model=frozen, circuit=None, task=task, properties=(Robustness(size),)), None
    ).verdict


def test_a_decision_that_is_not_known_has_no_known_radius():
    """Equal rows of two candidates tie whatever the prompt, and no precision says so."""
    model = random_model(SOFTMAX)
    with torch.no_grad():
        model.unembed[:] = 1
        model.unembed_bias[:] = 0
    task = table_task({(1, 2): 0, (3,): 1}, candidates=(0, 1))
    found = find_radii(freeze(model), task, None, PerturbationSite(), Effort(precision=64))
    assert (found.exit_code, found.unknown) == (ExitCode.UNDECIDED, 2)
    assert "2 radii unknown: the decision is not known at 64 bits; raise --precision" in list(
        radii_said(found)
    )


def test_through_a_layer_norm_radii_lie_between_what_is_proved_and_what_is_found():
    """A decision is kept at the lower bound and changed at the upper one; between them nothing is known."""
    frozen = freeze(random_model(replace(SOFTMAX, norm=LayerNorm(Fraction(1, 1000)), biases=False)))
    task = table_task({(1, 2): 0, (3,): 1, (4, 0, 3): 2}, candidates=(0, 1, 2))
    found = find_radii(frozen, task, None, PerturbationSite(), Effort())
    attained = [one for one in found.brackets if one.is_attained]
    assert (found.exit_code, found.unknown, len(attained) > 0) == (ExitCode.UNDECIDED, 0, True)
    assert all(0 < one.lower < one.upper == max(map(abs, one.eta)) for one in attained)
    sizes = (found.proved, min(one.upper for one in attained))
    assert [answered(frozen, task, size) for size in sizes] == [Verdict.PROVED, Verdict.REFUTED]
    assert "radii only bounded" in text_of(radii_said(found))


def test_elsewhere_an_enclosed_radius_is_refused_in_one_sentence():
    """A search would need exact numbers."""
    frozen = freeze(random_model(SOFTMAX))
    task = table_task({(1, 2): 0, (3,): 1}, candidates=(0, 1))
    with pytest.raises(NotExactError, match="perturb 'logits input' at the last position"):
        find_radii(frozen, task, None, PerturbationSite("mlp 0 output"), Effort())


def test_a_place_that_nothing_reads_has_no_radius(model):
    """The head looks elsewhere: an infinite radius there would say nothing."""
    with pytest.raises(InputError, match="reaches the logits of no prompt"):
        find_radii(model, "quotes", None, PerturbationSite("head 0.0 input"), Effort(budget=100))


def test_a_tie_has_no_radius(tmp_path):
    """Nothing is proved below anything."""
    same = quote_model({"logits.weight": [[0, 0]] * 32, "head.0.0.output.weight": IDENTITY})
    save_model(tmp_path / "model", StoredModel(same, TOY))
    found = find_radii(tmp_path / "model", "quotes", None, PerturbationSite(), Effort(budget=100))
    assert found.proved == 0
    assert found.to_json()["prompts"][0] == {"tie": True}


def test_a_place_that_the_model_lacks_is_refused(model):
    """By the sentence of the interface."""
    with pytest.raises(InputError, match="mlp 5 is outside 1 layers"):
        find_radii(model, "quotes", None, PerturbationSite("mlp 5 output"), Effort(budget=100))


@pytest.mark.slow
def test_exact_radii_where_the_paper_certifies_one_epsilon(reference, tmp_path):
    """All are known; the reference lift jumps, so none is attained. The nightly command asks all 128."""
    import_release(reference / "band_norm_matched", tmp_path / "model")
    circuit = tmp_path / "model" / "quotes.circuit.json"
    step = 1 if "CIRCUITPROOF_EXAMPLES" in os.environ else 16
    whole = toy_quotes()
    few = replace(whole, domain=Domain(whole.prompts[::step], whole.listed.strata[::step]))
    (tmp_path / "few.json").write_bytes(canonical_json(few.to_json()))
    found = find_radii(
        tmp_path / "model", str(tmp_path / "few.json"), circuit, PerturbationSite(), Effort(budget=5000)
    )
    assert len(found.known()) == 128 // step
    least = found.distribution()["min"]
    assert round(least, 7) == Fraction("0.0140802") if step == 1 else least >= Fraction("0.0140801")
    assert not any(one.bracket.is_attained for one in found.prompts)
