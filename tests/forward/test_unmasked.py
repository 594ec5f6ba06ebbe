"""Attention without a mask: engine, slow twin, torch and checker compute the same of the whole prompt."""

import json
import os
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from random import Random

import mpmath
import pytest
import torch

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, model_of, prompts_of
from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import EMBED, Head
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.reading import Fields
from circuitproof.forward.interface import Interface, Side, Span
from circuitproof.forward.reach import readings
from circuitproof.models.architecture import read_architecture
from circuitproof.models.declaration import Declaration
from circuitproof.models.operators import Mask
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof_check import work
from circuitproof_check.claim import read_claim
from circuitproof_check.enclosed.forward import Enclosures
from circuitproof_check.forward import Forward
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_check.tensors import Weights, read_safetensors
from floats import agree
from hand_models import freeze, table_task
from models import random_model, tiny_architecture
from pattern_claims import PATTERNS, task_of
from real_twin import RealTwin, ordinary_model
from twin import Twin, exact_tensors

SEEDS = int(os.environ.get("CIRCUITPROOF_EXAMPLES", "12"))
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


def unmasked(model, **changes):
    """Return a model with the same weights, without programs and without a mask."""
    sizes = replace(model.architecture, mask=Mask.NONE, **changes)
    found = Transformer(sizes)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.randint(-3, 4, parameter.shape, generator=generator) / 2)
    return found


def drawn(seed, *, is_exact):
    """Return a random model without a mask, one of its circuits with any ports and ablation, and prompts."""
    draw = Random(seed)  # noqa: S311  # models, not secrets
    made = model_of(draw, seed) if is_exact else ordinary_model(draw, seed)
    rotary = 2 if made.architecture.head_width > 1 and draw.random() < 0.4 else None
    model = unmasked(made, rotary=rotary)
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit = circuit_of(draw, model, ablation_of(draw, prompts))
    return model, circuit, prompts


def twin_of(model, kind=Twin):
    """Return the slow twin of a model."""
    views = {name: view.detach() for name, view in model.named_slices().items()}
    return kind(model.architecture, {}, exact_tensors(views))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_engine_computes_what_the_twin_and_torch_do(seed):
    """Exactly, in every circuit; torch in FP64 for the whole model."""
    model, circuit, prompts = drawn(seed, is_exact=True)
    frozen, twin = freeze(model), twin_of(model)
    every = whole(frozen.graph)
    found = fold(frozen, CANDIDATES, [circuit, every], prompts)
    for prompt, own, full in zip(prompts, found.of(circuit), found.of(every), strict=True):
        assert own.logits == tuple(twin.logits(circuit, prompt, CANDIDATES))
        with torch.no_grad():
            floats = model.double()(torch.tensor([prompt]))[0, -1, list(CANDIDATES)]
        assert agree(floats, torch.tensor(list(map(float, full.logits)), dtype=torch.float64))
        model.float()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_enclosures_hold_what_the_twin_computes(seed):
    """Softmax, GELU and LayerNorm by many digits."""
    model, circuit, prompts = drawn(seed, is_exact=False)
    frozen, twin = freeze(model), twin_of(model, RealTwin)
    found = fold(frozen, CANDIDATES, [circuit], prompts, arithmetic=EnclosedNumbers()).of(circuit)
    with mpmath.workdps(50):
        for prompt, own in zip(prompts, found, strict=True):
            real = twin.logits(circuit, prompt, CANDIDATES)
            gaps = [abs(mpmath.mpmathify(a) - b) for a, b in zip(own.midpoints, real, strict=True)]
            assert max(gaps) <= mpmath.mpmathify(own.radius)


def claim_of(seed, *, is_exact):
    """Return a claim about such a circuit, or nothing where none can be made."""
    model, circuit, prompts = drawn(seed, is_exact=is_exact)
    frozen = freeze(model)
    if not circuit.edges or (circuit.ablation == ZERO and not reads_prompt(circuit, frozen.programs)):
        return None
    numbers = {} if is_exact else {"arithmetic": EnclosedNumbers(most=128)}
    found = fold(frozen, CANDIDATES, [circuit], prompts, **numbers).of(circuit)
    answers = {x: CANDIDATES[one.leader] for x, one in zip(prompts, found, strict=True)}
    task = table_task(answers, candidates=CANDIDATES)
    asked = (Equivalence(), Necessity(), Faithfulness())
    inside = Robustness(Fraction(1, 64), Interface(EMBED, Side.OUTPUT, Span.ALL))
    with suppress(InputError):
        return Claim(frozen, circuit, task, (*asked, inside) if is_exact else asked, **numbers)
    return Claim(frozen, circuit, task, asked, **numbers)


@pytest.mark.parametrize("is_exact", [True, False], ids=["exact", "enclosed"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_checker_agrees(seed, is_exact, tmp_path):
    """With every answer, remarks and perturbed places included, by its own reading of the format."""
    claim = claim_of(seed, is_exact=is_exact)
    if claim is None:
        return
    battery = prove(claim)
    write_bundle(tmp_path / "bundle", battery)
    report = inspect(tmp_path / "bundle", Beside(operations=10**10))
    assert report.outcome is OUTCOMES[battery.verdict], report.reason


@pytest.mark.parametrize("seed", range(SEEDS))
def test_prover_and_checker_compute_the_same_integers(seed):
    """Midpoints and radius to the last bit."""
    claim = claim_of(seed, is_exact=False)
    if claim is None:
        return
    files = bundle_files(battery := prove(claim))
    numbers = battery.claim.arithmetic
    prompts = claim.task.prompts
    found = fold(claim.frozen, CANDIDATES, [claim.circuit], prompts, arithmetic=numbers).of(claim.circuit)
    work.allow(10**12)
    read = read_claim(json.loads(files["claim.json"]), json.loads(files["domain.json"]), files["domain.json"])
    weights = Weights(read.slices, read_safetensors(files["weights.safetensors"], "weights"))
    checked = Enclosures(Forward(read, weights), numbers.precision)
    for prompt, one in zip(prompts, found, strict=True):
        row = checked.logits(read.edges, prompt)
        assert (tuple(row.midpoints), row.radius) == (one.numbers, one.reach)


def test_in_two_layers_a_mask_makes_a_difference():
    """Otherwise all of the above would say nothing."""
    causal = random_model(tiny_architecture())
    frozen = [freeze(causal), freeze(random_model(replace(causal.architecture, mask=Mask.NONE)))]
    circuit = whole(causal.graph)
    one, other = (fold(each, CANDIDATES, [circuit], [(1, 2, 3)]).of(circuit) for each in frozen)
    assert one != other


def test_every_position_is_read_before_a_head():
    """A perturbation of a later position reaches an earlier one, and so the logits."""
    graph = tiny_architecture().graph
    chain = Circuit(graph, frozenset(edge for edge in graph.edges() if str(edge) in CHAIN))
    assert readings(chain, {}, (1, 2, 3), Mask.NONE)[EMBED, Side.OUTPUT] == {0, 1, 2}
    assert readings(chain, {}, (1, 2, 3), Mask.NONE)[Head(1, 0), Side.OUTPUT] == {2}


CHAIN = ("embed -> head 0.0", "head 0.0 -> head 1.0", "head 1.0 -> logits")


def test_the_key_is_left_out_where_there_is_a_mask():
    """So nothing that was written before changes by a byte."""
    causal = tiny_architecture()
    assert "mask" not in causal.to_json()
    written = replace(causal, mask=Mask.NONE).to_json()
    assert written["mask"] == "none"
    assert read_architecture(Fields(written, "model")).mask is Mask.NONE
    with pytest.raises(InputError, match=r"model\.mask is 'causal', want one of 'none'"):
        read_architecture(Fields({**written, "mask": "causal"}, "model"))


def test_programs_and_patterns_want_a_mask():
    """Programs look at the past alone; patterns are read from their start."""
    sizes = replace(tiny_architecture(), mask=Mask.NONE)
    program = parse("default 1\notherwise self")
    with pytest.raises(DeclarationError, match=r"head 0\.0 cannot be a program: .* attention has no mask"):
        Declaration(sizes, {Head(0, 0): program}, None)
    frozen = freeze(Transformer(replace(sizes, vocabulary=6)))
    with pytest.raises(InputError, match="attention without a mask is not known over patterns; list prompts"):
        Claim(frozen, whole(frozen.graph), task_of(PATTERNS[0]), (Equivalence(),))
