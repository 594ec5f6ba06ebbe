"""Decisions at a declared position, and over outputs that are no tokens: engine, torch and checker agree."""

import json
import os
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from random import Random

import pytest
import torch

from ablated_circuits import ablation_of, circuit_of, model_of
from bundle_maker import seal
from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.circuits.ablation import ZERO, Mean, Pooling
from circuitproof.circuits.graph import EMBED, LOGITS
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import DeclarationError, InputError
from circuitproof.forward.interface import Interface, Side, Span
from circuitproof.models.operators import Mask
from circuitproof.nn.decisions import task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.arithmetic import EXACT, EnclosedNumbers
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import decided_at
from circuitproof_check.main import Beside, Outcome, inspect
from floats import agree
from hand_models import freeze, table_task
from real_twin import ordinary_model

SEEDS = int(os.environ.get("CIRCUITPROOF_EXAMPLES", "16"))
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}
OUTPUTS = (0, 1, 6)
NAMES = Alphabet(("no", "yes", "c", "d", "e", "f", "perhaps"))
"""One logit for each of seven outputs, where the vocabulary has five tokens."""


def with_outputs(model, seed, mask, *, programs=True):
    """Return a model of the same sizes with seven outputs, and weights drawn anew."""
    sizes = replace(model.architecture, outputs=7, tied=False, mask=mask)
    found = Transformer(sizes, model.programs if programs and mask is Mask.CAUSAL else {})
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.randint(-3, 4, parameter.shape, generator=generator) / 2)
    return found


def drawn(seed, *, is_exact, programs=True):
    """Return a random model, one of its circuits, prompts of at least two tokens, and a position of all."""
    draw = Random(seed)  # noqa: S311  # models, not secrets
    mask = draw.choice((Mask.CAUSAL, Mask.CAUSAL, Mask.NONE))
    made = model_of(draw, seed) if is_exact else ordinary_model(draw, seed)
    model = with_outputs(made, seed, mask, programs=programs)
    lengths = [draw.choice((2, 3)) for _ in range(draw.randint(1, 4))]
    prompts = tuple({tuple(draw.randrange(5) for _ in range(length)): None for length in lengths})
    ablation = ablation_of(draw, prompts)
    return model, circuit_of(draw, model, ablation), prompts, draw.choice((0, 1, -2, -1))


def task_at(frozen, circuit, prompts, position, arithmetic):
    """Return the task that a circuit decides right, as far as that is known."""
    found = fold(frozen.at(position), OUTPUTS, [circuit], prompts, arithmetic=arithmetic).of(circuit)
    answers = {x: OUTPUTS[one.leader] for x, one in zip(prompts, found, strict=True)}
    task = replace(table_task(dict.fromkeys(answers, 0)), outputs=NAMES, position=position)
    return replace(task, candidates=OUTPUTS, answer=type(task.answer)(tuple(answers.values())))


def claim_of(seed, *, is_exact):
    """Return a claim about such a circuit, or nothing where none can be made."""
    model, circuit, prompts, position = drawn(seed, is_exact=is_exact)
    frozen, numbers = freeze(model), EXACT if is_exact else EnclosedNumbers(most=128)
    if not circuit.edges or (circuit.ablation == ZERO and not reads_prompt(circuit, frozen.programs)):
        return None
    task = task_at(frozen, circuit, prompts, position, numbers)
    asked = (Equivalence(), Invariance(), Necessity(), Faithfulness(), Accuracy(least=1))
    place = Random(seed).choice(  # noqa: S311  # places, not secrets
        (Interface(), Interface(EMBED, Side.OUTPUT, Span.ALL), Interface(LOGITS, Side.INPUT, (0,)))
    )
    with suppress(InputError):
        return Claim(
            frozen.at(position), circuit, task, (*asked, Robustness(Fraction(1, 64), place)), numbers
        )
    return Claim(frozen.at(position), circuit, task, asked, numbers)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_engine_and_torch_compute_the_same_at_a_position(seed):
    """In every circuit and under every ablation: torch computes the whole prompt, the engine what it reads.

    Without programs, whose rows torch rounds to FP32.
    """
    model, circuit, prompts, position = drawn(seed, is_exact=True, programs=False)
    frozen = freeze(model)
    task = task_at(frozen, circuit, prompts, position, EXACT)
    found = fold(frozen.at(position), OUTPUTS, [circuit], prompts).of(circuit)
    floats = task_logits(model.double(), task, [circuit])[0]
    exact = torch.tensor([list(map(float, one.logits)) for one in found], dtype=torch.float64)
    assert agree(floats, exact)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_stands_behind_the_position_is_not_read_through_a_mask(seed):
    """The slow twin: the same circuit on the prompts up to there, decided at their ends."""
    model, circuit, prompts, position = drawn(seed, is_exact=True)
    circuit = replace(circuit, ablation=Random(seed).choice((ZERO, Mean(prompts, Pooling.ALL))))  # noqa: S311  # no secrets
    if not model.architecture.is_causal:
        return
    frozen = freeze(model)
    found = fold(frozen.at(position), OUTPUTS, [circuit], prompts).of(circuit)
    for prompt, one in zip(prompts, found, strict=True):
        begun = prompt[: decided_at(len(prompt), position) + 1]
        assert one == fold(frozen, OUTPUTS, [circuit], [begun]).of(circuit)[0]


@pytest.mark.parametrize("is_exact", [True, False], ids=["exact", "enclosed"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_checker_agrees(seed, is_exact, tmp_path):
    """With every answer, remark and perturbed place, by its own reading of the format."""
    claim = claim_of(seed, is_exact=is_exact)
    if claim is None:
        return
    battery = prove(claim)
    write_bundle(tmp_path / "bundle", battery)
    report = inspect(tmp_path / "bundle", Beside(operations=10**10))
    assert report.outcome is OUTCOMES[battery.verdict], report.reason
    said = f" at position {claim.task.position}" if claim.task.position != -1 else ""
    assert f", 3 candidates{said}" in report.reason


def test_the_last_position_is_left_out_of_claim_and_declaration():
    """What was claimed before stays as it was, byte for byte."""
    task = table_task({(0, 1): 1, (1, 2): 0})
    assert task.at(-1).digest == task.digest
    assert "position" not in task.in_claim()
    assert task.at(0).digest != task.digest
    assert task.at(0).in_claim()["position"] == 0


def test_the_claim_names_the_outputs_that_are_candidates():
    """Names of tokens are those of tokens in prompts alone."""
    task = replace(table_task({(3, 4): 1}), outputs=NAMES, candidates=(0, 1, 6))
    told = task.in_claim()
    assert told["outputs"] == {"0": "no", "1": "yes", "6": "perhaps"}
    assert told["names"] == {"3": "d", "4": "e"}


@pytest.mark.parametrize(
    ("position", "said"),
    [(2, "prompt 1 has 2 tokens, and position 2 is decided at; want at least 3"), (-3, "want at least 3")],
)
def test_prompts_that_are_too_short_for_the_position_are_refused(position, said):
    """Nothing is decided where nothing stands."""
    with pytest.raises(DeclarationError, match=said):
        table_task({(0, 1, 2): 1, (0, 1): 0}).at(position)


def test_a_task_of_other_outputs_than_the_models_is_refused():
    """Each logit has a name, and each candidate a logit."""
    model, circuit, *_ = drawn(1, is_exact=True)
    frozen = freeze(model)
    named = replace(table_task({(0, 1): 1}), outputs=Alphabet(("no", "yes")))
    with pytest.raises(InputError, match="names 2 outputs, the model has 7; name each"):
        Claim(frozen, circuit, named, (Faithfulness(),))
    few = freeze(with_few_outputs())
    with pytest.raises(InputError, match="has candidate 3, and the model has outputs 0 to 1 only"):
        few.declaration.refuse_unfit(table_task({(0, 1): 3}, candidates=(0, 3)))


def with_few_outputs():
    """Return a model of five tokens and two outputs."""
    model, *_ = drawn(1, is_exact=True)
    return Transformer(replace(model.architecture, outputs=2))


def test_a_claim_is_about_a_model_read_where_its_task_is_decided():
    """Otherwise logits of one position would be taken for those of another."""
    model, circuit, *_ = drawn(1, is_exact=True)
    task = replace(table_task({(0, 1): 1}), outputs=NAMES).at(0)
    with pytest.raises(DeclarationError, match="the model is read at position -1, task 'table' at 0"):
        Claim(freeze(model), circuit, task, (Faithfulness(),))


def test_claims_say_position_and_outputs_only_where_they_are_not_as_usual():
    """So bundles of other claims stay as they were."""
    claim = next(found for seed in range(50) if (found := claim_of(seed, is_exact=True)) is not None)
    told = json.loads(bundle_files(prove(claim))["claim.json"])
    assert told["architecture"]["outputs"] == 7
    assert told["weights"]["logits.weight"]["shape"][0] == 7
    assert set(told["task"]["outputs"]) == {"0", "1", "6"}


@pytest.mark.parametrize(
    ("is_exact", "rule"), [(True, "folds are the logits"), (False, "decided is what is known")]
)
def test_evidence_of_another_position_is_refused(is_exact, rule, tmp_path):
    """A claim whose position was changed afterwards is about other logits."""
    found = (claim_of(seed, is_exact=is_exact) for seed in range(200))
    moved = next(
        battery
        for claim in found
        if claim is not None
        and claim.task.position == 0
        and (battery := prove(claim)).answers[0].verdict is Verdict.PROVED
        and fails_elsewhere(battery, tmp_path, rule)
    )
    assert moved


def fails_elsewhere(battery, folder, rule):
    """Say whether the checker refuses a bundle by a rule once its claim decides at the end."""
    place = folder / f"bundle {len(list(folder.iterdir()))}"
    files = dict(bundle_files(battery))
    claim = json.loads(files["claim.json"])
    del claim["task"]["position"]
    files["claim.json"] = json.dumps(claim).encode()
    certificate = json.loads(files["certificate.json"])
    certificate["claim"] = sha256(files["claim.json"]).hexdigest()
    files["certificate.json"] = json.dumps(certificate).encode()
    seal(place, {name: content for name, content in files.items() if name != "manifest.json"})
    report = inspect(place, Beside(operations=10**10))
    return report.outcome is Outcome.INVALID and rule in report.reason
