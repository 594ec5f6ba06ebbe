"""The oracle of enclosed claims knows the truth: real numbers inside every radius, and lies told apart."""

import mpmath
import pytest

import attack
import bundle_maker as maker
from bundle_twin import Model, Tensor, falsehoods, read_bundle, rows_of
from circuitproof_check.main import Outcome, check
from enclosed_claims import GPT, NEOX, PLAIN, answered, prompts, prover_of, remarked
from real_oracle import DIGITS, RealRun

SIZES = {"GPT": GPT, "NEOX": NEOX, "PLAIN": PLAIN}


@pytest.mark.parametrize("name", SIZES)
def test_its_logits_lie_within_the_radius_of_the_specification(name):
    """Two readings of the page: eighty digits here, integers and a radius in the twin of the table."""
    prover = prover_of(SIZES[name], 1)
    tensors = prover.bundle.tensors
    raw = {key: Tensor(shape, maker.raw(numbers)) for key, (shape, numbers) in tensors.items()}
    run = RealRun(Model(prover.claim["architecture"], {}, rows_of(raw, {})), prover.edges)
    with mpmath.workdps(DIGITS):
        for number in prompts(prover):
            midpoints, radius = prover.row(number)
            found = run.logits(prover.claim["task"]["candidates"], tuple(prover.prompts[number]))
            for midpoint, logit in zip(midpoints, found, strict=True):
                assert abs(mpmath.ldexp(mpmath.mpmathify(logit), prover.p) - midpoint) <= radius


@pytest.mark.parametrize("name", SIZES)
def test_it_finds_a_false_answer_and_no_other(name, tmp_path):
    """A right answer that is another: what was proved is false then, and the oracle says so."""
    bundle = remarked(answered(prover_of(SIZES[name], 3), "equivalence")).write(tmp_path / "bundle")
    assert check(bundle)[0] is Outcome.VALID
    assert falsehoods(bundle) == []
    parts = read_bundle(bundle)
    task = parts[0]["task"]
    answers = task["answer"]["answers"]
    answers[0] = next(token for token in task["candidates"] if token != answers[0])
    attack.resealed(bundle, parts)
    assert falsehoods(bundle) == ["false: equivalence is proved, but is not"]


def test_a_detached_bundle_is_read_from_the_model(tmp_path):
    """Of a model with other weights the oracle says that it is not the claim's."""
    made = remarked(answered(prover_of(PLAIN, 3), "equivalence"))
    bundle = made.write(tmp_path / "bundle")
    declared = {"architecture": made.claim["architecture"], "programs": {}, "alphabet": None}
    files = {"model.json": maker.as_bytes(declared), "weights.safetensors": maker.safetensors(made.tensors)}
    maker.seal(tmp_path / "model", files)
    attack.detach(bundle)
    assert check(bundle, tmp_path / "model")[0] is Outcome.VALID
    assert falsehoods(bundle, tmp_path / "model") == []
    made.tensors["logits.weight"][1][0] += 1.0
    files["weights.safetensors"] = maker.safetensors(made.tensors)
    maker.seal(tmp_path / "model", files)
    assert "is not the model's" in falsehoods(bundle, tmp_path / "model")[0]
