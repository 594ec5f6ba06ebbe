"""Circuits with ports and with every ablation: engine, slow twin, torch and checker compute the same."""

import os
from random import Random

import pytest
import torch

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, model_of, prompts_of
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.readers import reads_prompt
from circuitproof.proof.anchors import unshared_logits
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.necessity import Necessity
from circuitproof_check.main import Outcome, check
from floats import within
from hand_models import freeze, table_task
from twin import Twin, exact_tensors

SEEDS = 5 * int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30"))
"""Hundreds, and nightly ten thousand."""


def computed(draw, model):
    """Fold a random circuit of a model on random prompts, and compare with the twin and with torch."""
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit = circuit_of(draw, model, ablation_of(draw, prompts))
    frozen = freeze(model.float())
    twin = Twin(model.architecture, model.programs, exact_tensors(model.named_slices()))
    found = fold(frozen, CANDIDATES, [circuit, *circuit.lesions()], prompts)
    for lesion in (circuit, *circuit.lesions()[:1]):
        for prompt, one in zip(prompts, found.of(lesion), strict=True):
            assert one.logits == twin.logits(lesion, prompt, CANDIDATES)
            assert unshared_logits(frozen, lesion, CANDIDATES, prompt)[0] == one.logits
            floats = model.double().candidate_logits(torch.tensor([prompt]), CANDIDATES, [lesion])[0, 0]
            exact = list(map(float, one.logits))
            assert within(floats, exact, roundings=1000, size=max(1, *map(abs, exact)))
    return frozen, circuit, prompts, found


@pytest.mark.parametrize("seed", range(SEEDS // 3))
def test_engine_twin_and_torch_agree_on_rotary_positions_and_parallel_blocks(seed):
    """With ports and every ablation: a cut edge that does not exist carries nothing, not a mean."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    kind = {
        "rotary": draw.choice((None, 2)),
        "parallel": draw.random() < 0.7,
        "head_width": draw.choice((2, 3)),
    }
    computed(draw, model_of(draw, seed, **kind))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_engine_twin_torch_and_checker_agree(seed, tmp_path):
    """Exactly, and in floats within the rounding of programs' weights; a prompt alone and beside others."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    frozen, circuit, prompts, found = computed(draw, model_of(draw, seed))
    if circuit.ablation != ZERO or reads_prompt(circuit, frozen.programs):
        decided = zip(prompts, found.of(circuit), strict=True)
        answers = {prompt: CANDIDATES[min(one.decision)] for prompt, one in decided}
        task = table_task(answers, classes=list(answers.values()), candidates=CANDIDATES)
        properties = (Equivalence(), Faithfulness(), *([Necessity()] if circuit.edges else []))
        write_bundle(tmp_path / "bundle", prove(Claim(frozen, circuit, task, properties)))
        outcome, sentence = check(tmp_path / "bundle")
        assert outcome in (Outcome.VALID, Outcome.REFUTED), sentence
