import json
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path

import pytest
import torch

from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError, NumericError, UsageError
from circuitproof.files.canonical import readable_json
from circuitproof.importers.release import import_release
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.decisions import task_logits
from circuitproof.nn.measuring import measured
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.battery import prove
from circuitproof.proof.effort import UNHURRIED
from circuitproof.proof.evidence import OneEdge, Replay
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Answer, Verdict
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.verbs.floats import FloatFormat, FloatMeasures
from circuitproof.verbs.verification import (
    Request,
    Verification,
    parse_properties,
    verify,
)
from circuitproof_check.main import Outcome, check
from hand_models import (
    ADDED,
    ADDER,
    ADDER_TASK,
    DOUBLE,
    LAST_FILLER,
    QUOTE_EDGES,
    QUOTE_SIZES,
    SINGLE,
    adder_claim,
    build,
    circuit_of,
    quote_model,
    rows,
    torch_decision,
)

PAPER = (Equivalence(), Invariance(), Necessity())
QUOTES = toy_quotes()


def stored(path: Path, model: Transformer, alphabet=TOY) -> Path:
    """Write a model directory and return it."""
    save_model(path, StoredModel(model, alphabet))
    return path


def circuit_file(path: Path, edges) -> Path:
    """Write a circuit file and return it."""
    path.write_bytes(readable_json(circuit_of(edges).to_json()))
    return path


def request_for(
    folder: Path, model: Transformer, properties=PAPER, edges=QUOTE_EDGES, alphabet=TOY
) -> Request:
    """Return the request to verify a model on quotes."""
    circuit = None if edges is None else circuit_file(folder / "circuit.json", edges)
    directory = stored(folder / "model", model, alphabet)
    return Request(model=directory, circuit=circuit, task="quotes", properties=properties)


def verdicts(found: Verification) -> list[Verdict]:
    """Return the verdicts in the order of the claim."""
    return [answer.verdict for answer in found.battery.answers]


def test_a_model_that_copies_the_quotation_mark_is_proved_to(tmp_path):
    """Radius 1/2: the margin is 1 and the rows are 2 apart. The torch model agrees to the last bit."""
    properties = (*PAPER, Robustness(Fraction(1, 3)), Faithfulness())
    found = measured(verify(request_for(tmp_path, quote_model(), properties), tmp_path / "bundle"), UNHURRIED)
    assert verdicts(found) == [Verdict.PROVED] * 5
    assert found.verdict is Verdict.PROVED
    assert isinstance(found.floats, FloatMeasures)
    assert (found.floats.error, found.floats.agreement) == (0, 128)
    assert [run.format for run in found.floats.runs] == list(FloatFormat)
    assert {(run.error, run.differing, run.least_margin) for run in found.floats.runs} == {(0, 0, 1)}
    assert found.battery.answers[3].findings.distribution()["min"] == Fraction(1, 2)
    assert check(tmp_path / "bundle", tmp_path / "model")[0] is Outcome.VALID


def test_the_result_is_written_as_json_with_all_that_makes_it_worth_something(tmp_path):
    """What was claimed, how many computations decide it, and what there is to remark."""
    content = verify(request_for(tmp_path, quote_model()), None).to_json()
    assert json.loads(readable_json(content)) == content
    answers = content.pop("answers")
    assert content == {
        "verdict": "proved",
        "task": "quotes",
        "declaration": str(toy_quotes().digest),
        "edges": 2,
        "granularity": "head",
        "ablation": "zero",
        "arithmetic": "exact",
        "precision": None,
        "prompts": 128,
        "cells": 2,
        "ties": 0,
        "float_error": None,
        "float_agreement": None,
        "float_runs": None,
    }
    assert [answer["property"]["kind"] for answer in answers] == ["equivalence", "invariance", "necessity"]
    assert [(answer["met"], answer["obligations"]) for answer in answers] == [(128, 128), (2, 2), (2, 2)]
    assert [len(edge["ties"]) for edge in answers[2]["findings"]["edges"]] == [128, 128]
    assert [answer["remarks"] for answer in answers] == [[], *[["implied by equivalence"]] * 2]


def test_without_a_circuit_the_whole_model_is_meant(tmp_path):
    """Here its MLP adds nothing, so the model is right and most of its edges are useless."""
    found = verify(request_for(tmp_path, quote_model(), edges=None), None)
    assert len(found.battery.claim.circuit) == 6
    assert verdicts(found) == [Verdict.PROVED, Verdict.PROVED, Verdict.REFUTED]


def test_a_place_that_is_taken_is_refused_before_any_work(tmp_path):
    """The model is not even opened: its directory is not there."""
    (tmp_path / "bundle").mkdir()
    request = Request(model=tmp_path / "absent", circuit=None, task="quotes", properties=PAPER)
    with pytest.raises(InputError, match=r"bundle already exists; remove it or choose another place"):
        verify(request, tmp_path / "bundle")


def test_a_task_with_more_tokens_than_a_nameless_model_leaves_no_bundle(tmp_path):
    """The prompts use few of the 32 tokens; whatever is decided about such a model is decided as one."""
    sizes = replace(QUOTE_SIZES, vocabulary=11)
    copied = {SINGLE: (1, 0), DOUBLE: (0, 1)}
    model = quote_model({"embed.token": rows(11, copied), "logits.weight": rows(11, copied)}, sizes)
    with pytest.raises(InputError, match="task 'quotes' has 32 tokens, the model 11"):
        verify(request_for(tmp_path, model, alphabet=None), tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize("number", [float("nan"), inf, -inf])
def test_a_weight_that_is_no_number_is_refused_where_it_is_read(tmp_path, number):
    """With the name of the tensor."""
    model = quote_model({"head.0.0.output.weight": [[number, 0], [0, 1]]})
    with pytest.raises(NumericError, match=r"tensor head\.0\.0\.output\.weight"):
        verify(request_for(tmp_path, model), None)


@pytest.mark.parametrize(
    ("kinds", "epsilon", "expected"),
    [
        ([], None, PAPER),
        ([], "1/100", (*PAPER, Robustness(Fraction(1, 100)))),
        ([Kind.FAITHFULNESS], None, (Faithfulness(),)),
        ([Kind.ROBUSTNESS], "0.5", (Robustness(Fraction(1, 2)),)),
        ([Kind.NECESSITY, Kind.EQUIVALENCE, Kind.NECESSITY], None, (Equivalence(), Necessity())),
        (
            [Kind.FAITHFULNESS, Kind.ROBUSTNESS, Kind.INVARIANCE],
            "2e-3",
            (Invariance(), Robustness(Fraction(1, 500)), Faithfulness()),
        ),
    ],
)
def test_properties_are_asked_for_by_name_and_answered_in_one_order(kinds, epsilon, expected):
    """Of none, the paper's; each once, however often it is named."""
    assert parse_properties(kinds, epsilon) == expected


@pytest.mark.parametrize(
    "epsilon", ["", "x", "1/0", "nan", "inf", "1//2", "1 / 2 / 3", "1e-9999", "1e99999999"]
)
def test_an_epsilon_that_is_no_rational_is_refused(epsilon):
    """At once: a long exponent written out would fill the memory before anything is said."""
    with pytest.raises(InputError, match="epsilon is "):
        parse_properties([], epsilon)


@pytest.mark.parametrize("epsilon", ["0", "-1/100", "0.0", "-0"])
def test_an_epsilon_that_is_not_positive_is_refused(epsilon):
    """Robustness to nothing is no robustness."""
    with pytest.raises(UsageError, match="want a positive rational such as 1/100"):
        parse_properties([], epsilon)


def test_robustness_and_epsilon_go_together():
    """Neither is silently left out."""
    with pytest.raises(InputError, match="robustness wants an epsilon"):
        parse_properties([Kind.ROBUSTNESS], None)
    with pytest.raises(InputError, match="robustness is not among the properties"):
        parse_properties([Kind.EQUIVALENCE], "1/100")


def decided_by_torch(found: Verification, model: Path, prompt: int) -> set[int]:
    """Return the places that torch's circuit puts first at a prompt of the domain."""
    claim = found.battery.claim
    prompts, candidates = claim.task.domain.prompts, claim.task.candidates
    return torch_decision(load_model(model).model, prompts[prompt], candidates, claim.circuit)


def answer_of(found: Verification, kind: type[Property]) -> Answer:
    """Return the answer about one property."""
    (answer,) = [answer for answer in found.battery.answers if isinstance(answer.prop, kind)]
    return answer


def test_a_flipped_weight_is_refuted_at_the_one_prompt_that_it_changes():
    """Planted fault: token 1 reads (−1, 0) where it should read (1, 0). Torch decides it wrong, too."""
    assert prove(adder_claim(Equivalence())).answers[0].verdict is Verdict.PROVED
    flipped = {"embed.token": [[2, 1], [-1, 0], [1, 1], [4, 1], [3, 1]]}
    battery = prove(adder_claim(Equivalence(), weights=flipped))
    (answer,) = battery.answers
    assert answer.findings.counterexamples == ((1,),)
    assert [replayed.prompt for replayed in answer.evidence.prompts] == [(1,)]
    model = build({**ADDER, **flipped})
    shown = [
        torch_decision(model, prompt, ADDER_TASK.candidates, circuit_of(ADDED))
        for prompt in ADDER_TASK.domain.prompts
    ]
    assert [places != {answer} for places, answer in zip(shown, ADDER_TASK.answers(), strict=True)] == [
        False,
        True,
        False,
        False,
    ]


def test_a_redundant_edge_is_refuted_and_torch_decides_alike_without_it(tmp_path):
    """Planted fault: the MLP is kept, but its output is zero."""
    request = request_for(
        tmp_path, quote_model(), edges=(*QUOTE_EDGES, "head 0.0 -> mlp 0", "mlp 0 -> logits")
    )
    found = verify(request, None)
    assert verdicts(found) == [Verdict.PROVED, Verdict.PROVED, Verdict.REFUTED]
    answer, circuit = answer_of(found, Necessity), found.battery.claim.circuit
    assert isinstance(answer.evidence, OneEdge)
    edge = list(circuit)[answer.evidence.edge]
    assert str(edge) == "head 0.0 -> mlp 0"
    logits = task_logits(load_model(request.model).model, QUOTES, [circuit, circuit.without(edge)])
    assert torch.equal(logits[0].argmax(-1), logits[1].argmax(-1))


def test_an_answer_that_depends_on_a_filler_is_refuted_by_two_prompts_that_torch_tells_apart(tmp_path):
    """Planted fault: the last token reaches the logits directly; a D pushes towards double quotes."""
    tokens = rows(32, {SINGLE: (1, 0), DOUBLE: (0, 1), LAST_FILLER: (0, 5)})
    request = request_for(
        tmp_path, quote_model({"embed.token": tokens}), edges=("embed -> logits", *QUOTE_EDGES)
    )
    found = verify(request, tmp_path / "bundle")
    assert verdicts(found)[:2] == [Verdict.REFUTED, Verdict.REFUTED]
    evidence = answer_of(found, Invariance).evidence
    assert isinstance(evidence, Replay)
    one, other = [QUOTES.prompts.index(replayed.prompt) for replayed in evidence.prompts]
    assert QUOTES.domain.strata[one] == QUOTES.domain.strata[other]
    assert QUOTES.domain.prompts[other][-1] == LAST_FILLER
    assert decided_by_torch(found, request.model, one) == {0}
    assert decided_by_torch(found, request.model, other) == {1}
    (replayed,) = answer_of(found, Equivalence).evidence.prompts
    wrong = QUOTES.prompts.index(replayed.prompt)
    right = QUOTES.candidates.index(QUOTES.answers()[wrong])
    assert decided_by_torch(found, request.model, wrong) != {right}
    assert check(tmp_path / "bundle")[0] is Outcome.REFUTED


THEIR_NAMES = {
    Kind.EQUIVALENCE: "projected_functional_equivalence",
    Kind.INVARIANCE: "projected_content_invariance",
    Kind.NECESSITY: "projected_edge_necessity",
}
RADII = {"norm_free": Fraction("0.275345"), "program_healed": Fraction("0.548704")}
"""Their exact least radii, to six digits."""


@pytest.mark.parametrize("name", ["norm_free", "band_norm_matched", "program_healed"])
def test_the_papers_models_get_the_papers_verdicts(reference, tmp_path, name):
    """And exact radii; torch's logits are so near to the exact ones that no decision is rounding's."""
    import_release(reference / name, tmp_path / "model")
    results = json.loads((reference / name / "quote_close" / "verification_results.json").read_text())
    theirs = {entry["property"]: entry["status"] for entry in results["properties"]}
    circuit = tmp_path / "model" / "quotes.circuit.json"
    properties = parse_properties([], "1/100")
    request = Request(model=tmp_path / "model", circuit=circuit, task="quotes", properties=properties)
    found = measured(verify(request, tmp_path / "bundle"), UNHURRIED)
    ours = dict(zip(Kind, verdicts(found), strict=False))
    assert {kind: ours[kind] is Verdict.PROVED for kind in THEIR_NAMES} == {
        kind: theirs[their_name] == "VERIFIED" for kind, their_name in THEIR_NAMES.items()
    }
    assert len(found.battery.claim.circuit) == len(
        load_circuit(reference / name / "quote_close" / "circuit.json")
    )
    robustness = answer_of(found, Robustness)
    assert robustness.verdict is Verdict.PROVED
    if name in RADII:
        assert round(robustness.findings.distribution()["min"], 6) == RADII[name]
    claim = found.battery.claim
    exact = [sorted(one.logits) for one in found.battery.folded.of(claim.circuit)]
    assert 0 < 2 * found.floats.error < min(best - second for *_, second, best in exact)
    outcome, _ = check(tmp_path / "bundle", tmp_path / "model")
    assert outcome is Outcome.VALID


@pytest.mark.parametrize("kind", [Kind.MINIMUM, Kind.LESION_IDENTITY])
def test_what_is_not_claimed_by_name_is_refused(kind):
    """Each has a command of its own that finds what it needs."""
    with pytest.raises(InputError, match=r"use circuitproof (minimal|construct)"):
        parse_properties([kind], None)
