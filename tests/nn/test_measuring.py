import json
from fractions import Fraction
from math import inf

import torch

from circuitproof.files.canonical import readable_json
from circuitproof.nn import measuring
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.measuring import measured
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import TOY
from circuitproof.verbs.floats import Unmeasured
from circuitproof.verbs.verification import Request, Verification, verify
from circuitproof_check.main import Outcome, check
from hand_models import DOUBLE, QUOTE_EDGES, SINGLE, circuit_of, quote_model, rows


def answered(folder, model, out=None) -> Verification:
    """Return the answer to whether the circuit of a model decides quotes."""
    save_model(folder / "model", StoredModel(model, TOY))
    kept = circuit_of(QUOTE_EDGES)
    request = Request(model=folder / "model", circuit=kept, task="quotes", properties=(Equivalence(),))
    return verify(request, out)


def test_nothing_is_measured_without_torch(tmp_path, monkeypatch):
    """Proofs do not need it."""
    monkeypatch.setattr(measuring, "find_spec", lambda _: None)
    found = measured(answered(tmp_path, quote_model()), UNHURRIED)
    assert found.floats == Unmeasured("torch is not installed")
    assert found.to_json()["float_error"] is None
    assert found.verdict is Verdict.PROVED


def test_the_float_error_is_the_largest_over_prompts_and_candidates(tmp_path):
    """A third is no float, so torch's logits are off by a known amount at prompts with single quotes."""
    third = torch.tensor(1 / 3, dtype=torch.float32)
    squared = {
        "head.0.0.value.weight": [[float(third), 0], [0, 1]],
        "logits.weight": rows(32, {SINGLE: (float(third), 0), DOUBLE: (0, 1)}),
    }
    found = measured(answered(tmp_path, quote_model(squared)), UNHURRIED)
    exact = Fraction(float(third)) ** 2
    assert found.floats.error == float(abs(Fraction(float(third * third)) - exact)) > 0


def test_floats_that_overflow_are_infinitely_wrong_and_the_proof_stands(tmp_path):
    """The exact value is a plain number; that torch cannot hold it must not look like a failed proof."""
    copied = {SINGLE: (1e38, 0), DOUBLE: (0, 1e38)}
    model = quote_model({"embed.token": rows(32, copied), "logits.weight": rows(32, copied)})
    found = measured(answered(tmp_path, model, tmp_path / "bundle"), UNHURRIED)
    assert found.verdict is Verdict.PROVED
    assert found.floats.error == inf
    wide, plain, half = found.floats.runs
    assert (wide.error, wide.differing) == (0, 0)
    assert [(run.differing, run.least_margin) for run in (plain, half)] == [(0, None), (128, None)]
    assert json.loads(readable_json(found.to_json()))["float_error"] == "infinite"
    assert check(tmp_path / "bundle")[0] is Outcome.VALID


def test_an_exact_logit_beyond_every_float_is_infinitely_far():
    """A difference that no float holds, and NaN, which no number equals."""
    assert measuring._distance(0.0, Fraction(10) ** 400) == inf
    assert measuring._distance(float("nan"), Fraction(0)) == inf
    assert measuring._distance(-inf, Fraction(0)) == inf
    assert measuring._distance(0.25, Fraction(1)) == 0.75


def test_a_measurement_that_fails_costs_no_proof(tmp_path):
    """The circuit does not read this number, so torch may refuse the model and the bundle stands."""
    model = quote_model({"mlp.0.up.weight": [[float("nan"), 0], [0, 0]]})
    found = measured(answered(tmp_path, model, tmp_path / "bundle"), UNHURRIED)
    assert found.verdict is Verdict.PROVED
    assert "holds a NaN" in found.floats.reason
    assert check(tmp_path / "bundle")[0] is Outcome.VALID


def test_a_measurement_that_comes_too_late_is_left_out(tmp_path):
    """The answers stand; a deadline that has passed is not run over further."""
    found = measured(answered(tmp_path, quote_model()), Pace(deadline=0))
    assert found.floats == Unmeasured("the work was ended first")


def test_a_decision_that_floats_lose_is_counted_by_format(tmp_path):
    """One half and a bit of FP32 are equal in FP16: a tie there, which is another decision."""
    more = float(torch.tensor(0.5, dtype=torch.float32).nextafter(torch.tensor(1.0, dtype=torch.float32)))
    model = quote_model({"logits.weight": rows(32, {SINGLE: (more, 0.5), DOUBLE: (0.5, more)})})
    wide, plain, half = measured(answered(tmp_path, model), UNHURRIED).floats.runs
    assert (wide.error, wide.differing, plain.differing) == (0, 0, 0)
    assert (half.differing, half.least_margin) == (128, 0)
