from dataclasses import replace

import torch

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head
from circuitproof.files.codec import Codec, to_json
from circuitproof.files.reading import reading
from circuitproof.nn.decisions import score_circuits
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.audit import Audit, audit
from circuitproof_lab.distill.install import replace_tensors
from circuitproof_lab.distill.lesion import Behaviour, silence
from hand_models import QUOTE_EDGES, quote_model
from models import random_model, tiny_architecture

HEAD = Head(0, 0)


def quotes(model) -> Behaviour:
    """Return quote closing along the hand-made model's one path."""
    edges = [edge for edge in model.graph.edges() if str(edge) in QUOTE_EDGES]
    return Behaviour(toy_quotes(), circuit_of(model.graph, edges))


def test_a_model_that_needs_its_head_has_no_backup():
    """Silenced, nothing is decided right: every prompt is a tie."""
    model = quote_model()
    found = audit(model, quotes(model), [HEAD])
    assert (found.model, found.circuit, found.prompts) == (128, 128, 128)
    assert (found.without_heads, found.without_each, found.circuit_without_each) == (0, (0,), (0,))
    assert (found.circuit_without_heads, found.needed) == (0, 128)
    assert found.without_circuit == 0
    assert found.backup == ()


def test_a_planted_bypass_is_found():
    """An edge that carries the opener's type around the head shows up as a backup route."""
    model = quote_model()
    bypass = model.token.detach().clone()
    bypass[5:9, 0] = 1.0
    planted = replace_tensors(model, {"embed.token": bypass})
    found = audit(planted, quotes(planted), [HEAD])
    assert found.without_heads > 0
    assert len(found.backup) == found.without_heads
    answers = toy_quotes().answers()
    assert {answers[place] for place in found.backup} == {answers[found.backup[0]]}


def test_counts_are_those_of_the_lesioned_circuits():
    """The same numbers as scoring each lesion by itself."""
    model = random_model(replace(tiny_architecture(), vocabulary=32, context=6), 5)
    heads, task = [Head(0, 0), Head(1, 1)], toy_quotes()
    circuit = circuit_of(
        model.graph, [Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), Head(1, 1)), Edge(Head(1, 1), LOGITS)]
    )
    found = audit(model, Behaviour(task, circuit), heads)
    everything = whole(model.graph)
    gap = silence(everything.without(*circuit.edges), heads)
    lesions = [everything, silence(everything, heads), gap, silence(circuit, heads)]
    alone = [silence(base, [head]) for base in (everything, circuit) for head in heads]
    rights = [score.right for score in score_circuits(model, task, [*lesions, *alone])]
    assert rights == [
        found.model,
        found.without_heads,
        found.without_circuit,
        found.circuit_without_heads,
        *found.without_each,
        *found.circuit_without_each,
    ]


def test_the_digest_tells_a_lesioned_model_that_changed_in_one_bit():
    """Decisions could be the same; the bits are not."""
    model = random_model(replace(tiny_architecture(), vocabulary=32, context=6), 5)
    behaviour = Behaviour(toy_quotes(), whole(model.graph))
    before = audit(model, behaviour, [HEAD])
    with torch.no_grad():
        model.mlps[1].down_bias[0] += 1e-4
    after = audit(model, behaviour, [HEAD])
    assert before.lesion_digest != after.lesion_digest


def test_an_audit_reads_back():
    """So that an interrupted construction need not repeat it."""
    model = quote_model()
    found = audit(model, quotes(model), [HEAD])
    with reading(to_json(found), "audit") as fields:
        assert Codec().record(Audit, fields) == found


def test_the_whole_circuit_lesion_does_not_see_the_heads_readouts():
    """With the circuit its program heads are silenced, so that no calibration can change what is left."""
    model = quote_model()
    before = audit(model, quotes(model), [HEAD])
    stronger = replace_tensors(model, {"head.0.0.output.weight": 5 * model.attentions[0].output[0].detach()})
    bypass = replace(quotes(model), circuit=circuit_of(model.graph, [Edge(EMBED, HEAD)]))
    assert audit(stronger, quotes(model), [HEAD]).without_circuit == before.without_circuit
    assert audit(stronger, bypass, [HEAD]).without_circuit == audit(model, bypass, [HEAD]).without_circuit
