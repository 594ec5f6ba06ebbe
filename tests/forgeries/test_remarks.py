"""Each remark on an empty proof: a bundle that leaves it out is refused, as is one that has it in vain."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import bundle_maker as maker
from bundle_twin import falsehoods
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.ablation import ZERO, Ablation, Counterfactual, Mean, Pooling
from circuitproof.circuits.graph import Granularity, Head
from circuitproof.circuits.spelling import parse_edges
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.lesion_identity import identity_with
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof_check.main import Outcome, check
from hand_models import (
    ADDED,
    ADDER,
    ADDER_TASK,
    DIRECT,
    IDENTITY,
    PLAIN,
    READ_OFF,
    build,
    circuit_of,
    freeze,
    table_task,
)

ALONE = ("head 0.0 -> logits",)
THROUGH_HEAD = ("embed -> head 0.0", "head 0.0 -> logits")
BESIDE = ("embed -> logits", "head 0.0 -> logits")
SOMETIMES = "default 0\nadd 1 when key_token == 3\notherwise nowhere"
ALWAYS, NEVER = SOMETIMES.replace("default 0", "default 1"), "default 0\notherwise nowhere"
BIASED = replace(PLAIN, biases=True, logit_bias=True)
TOLD = {
    "head.0.0.value.bias": [1, 0],
    "head.0.0.output.weight": IDENTITY,
    "logits.weight": READ_OFF,
    "logits.bias": [0, 0.5, 0, 0, 0],
}
"""A head whose value is a constant, so that what it decides is whether it attends."""
TOKENS = {"embed.token": [*IDENTITY, [0, 0], [0, 0], [0, 0]], "logits.weight": READ_OFF}
TWO = table_task({(0,): 0, (1,): 1})
LEANING = {
    "embed.token": [[2, 1.5], [2, 0], [7, 0], [0, 0], [0, 0]],
    "head.0.0.value.bias": [0, 2],
    "head.0.0.output.weight": IDENTITY,
    "logits.weight": READ_OFF,
}
"""A head that turns the decision about tokens 0 and 1, whatever it reads, as long as it attends."""


def told(edges: Sequence[str], *properties: Property) -> Claim:
    """Return a claim about a program head that tells prompts apart by whether it attends."""
    frozen = freeze(build(TOLD, BIASED, {Head(0, 0): parse(SOMETIMES)}))
    return Claim(frozen, circuit_of(edges), table_task({(3, 0): 0, (2, 0): 1}), properties)


def direct(prop: Property) -> Claim:
    """Return a claim about the direct edge, which tells two tokens apart."""
    return Claim(freeze(build(TOKENS)), circuit_of(DIRECT), TWO, (prop,))


def leaning(program: str) -> Claim:
    """Return the necessity of an edge from a program head that keeps no source."""
    frozen = freeze(build(LEANING, BIASED, {Head(0, 0): parse(program)}))
    task = table_task({(3, 0): 0, (3, 1): 0, (3, 2): 0})
    return Claim(frozen, circuit_of(BESIDE), task, (Necessity(),))


def faithful(read_out: list[list[float]]) -> Claim:
    """Return the faithfulness of the direct edge in a model with a silent MLP and a head."""
    head = {"head.0.0.value.weight": IDENTITY, "head.0.0.output.weight": read_out}
    frozen = freeze(build(TOKENS | head))
    return Claim(frozen, circuit_of(DIRECT), TWO, (Faithfulness(),))


def lesioned(
    edges: Sequence[str], program: str = SOMETIMES, base: str | None = None, ablation: Ablation = ZERO
) -> Claim:
    """Return the lesion identity of a model with a program and a base with another, or without one."""
    before = freeze(build(ADDER, PLAIN, {} if base is None else {Head(0, 0): parse(base)}))
    after = freeze(build(ADDER, PLAIN, {Head(0, 0): parse(program)}))
    circuit = replace(circuit_of(edges), ablation=ablation)
    return Claim(after, circuit, ADDER_TASK, (identity_with(before, after),))


def cut(
    ablation: Ablation, answers: Sequence[int], *properties: Property, edges: Sequence[str] = DIRECT
) -> Claim:
    """Return a claim about the adder on tokens 0, 1 and 3, or fewer, with something at cut edges.

    Its MLP adds 2 to the second logit for any token but 1.
    """
    circuit = replace(circuit_of(edges), ablation=ablation)
    task = table_task({(token,): answer for token, answer in zip((0, 3, 1), answers, strict=False)})
    return Claim(freeze(build(ADDER)), circuit, task, properties)


def needed(ablation: Ablation, prop: Property) -> Claim:
    """Return a claim about all edges of a model in which the head doubles what the direct edge carries.

    One logit is 3 1/2 or -1/2, and where a mean replaces either part of it, that of token 1 is above 0.
    """
    weights = {
        "embed.token": [[1, 0], [-1, 0], [0, 0], [0, 0], [0, 0]],
        "head.0.0.value.weight": IDENTITY,
        "head.0.0.output.weight": IDENTITY,
        "logits.weight": READ_OFF,
        "logits.bias": [1.5, 0, 0, 0, 0],
    }
    frozen = freeze(build(weights, replace(PLAIN, mlp_width=0, logit_bias=True)))
    edges = ("embed -> head 0.0", "embed -> logits", "head 0.0 -> logits")
    return Claim(frozen, parse_edges(frozen.graph, edges, "test", ablation), TWO, (prop,))


def ported() -> Claim:
    """Return the necessity of edges into ports, two of which only bring the bias of the first layer.

    A head of that layer feeds the query of a head of the second, the other one its values.
    """
    sizes = replace(PLAIN, layers=2, heads=2, mlp_width=0, biases=True)
    weights = {
        "embed.token": [[3, 0], [0, 6], [0, 0.5], [0, 0], [0, 0]],
        "attention.0.output.bias": [1, 0],
        "head.1.0.query.weight": [[4, 0], [0, 0]],
        "head.1.0.key.weight": IDENTITY,
        "head.1.0.value.weight": IDENTITY,
        "head.1.0.output.weight": IDENTITY,
        "logits.weight": READ_OFF,
    }
    frozen = freeze(build(weights, sizes))
    reads = ("embed -> head 1.0 key", "embed -> head 1.0 value")
    edges = (*reads, *BY_PORT, "head 1.0 -> logits")
    circuit = parse_edges(replace(frozen.graph, granularity=Granularity.PORT), edges, "test")
    return Claim(frozen, circuit, table_task({(0, 1): 0, (1, 1): 1, (2, 2): 0}), (Necessity(),))


def programmed() -> Claim:
    """Return the necessity of an edge that only brings a bias, into the value port of a program head."""
    sizes = replace(PLAIN, layers=2, mlp_width=0, biases=True)
    weights = {
        "embed.token": [[-1, 0], [-9, 0], [0, 0], [0, 0], [0, 0]],
        "attention.0.output.bias": [3, 0],
        "head.1.0.value.weight": IDENTITY,
        "head.1.0.output.weight": IDENTITY,
        "logits.weight": READ_OFF,
    }
    frozen = freeze(build(weights, sizes, {Head(1, 0): parse(ALWAYS)}))
    edges = ("embed -> head 1.0 value", "head 0.0 -> head 1.0 value", "head 1.0 -> logits")
    circuit = parse_edges(replace(frozen.graph, granularity=Granularity.PORT), edges, "test")
    return Claim(frozen, circuit, table_task({(0,): 0, (1,): 1}), (Necessity(),))


def partners(**tokens: int) -> Counterfactual:
    """Return the partner of some tokens."""
    return Counterfactual(tuple(((int(one[1:]),), (other,)) for one, other in tokens.items()))


BY_PORT = ("head 0.0 -> head 1.0 query", "head 0.1 -> head 1.0 value")
EVERY = ("embed -> head 0.0", *ADDED[:2], "head 0.0 -> mlp 0", "head 0.0 -> logits", ADDED[2])
SINGLE, OWN, SAME = "means of one prompt: 3", "own partners: 1", "logits of the whole model"
IMPLIED, ONE, WHOLE = "implied by equivalence", "one edge", "whole model"
CONSTANT = "constant source: head 0.0 -> logits"
CLEAR, DECISION = "implied by clear decisions", "constant decision"
MEANT = Mean(((0,), (2,)))
POOLED = replace(MEANT, over=Pooling.ALL)
BETWEEN, LONE = Mean(((0,), (1,)), Pooling.ALL), Mean(((0,),))
UNUSED, BASE = "no program head in the circuit", "program of the base: head 0.0"
MADE = {
    "necessity of a program head alone": (lambda: told(ALONE, Equivalence(), Necessity()), [IMPLIED]),
    "subsets of a program head alone": (lambda: told(ALONE, SubsetMinimality()), [IMPLIED]),
    "minimum with a rival": (lambda: told(ALONE, Minimum((circuit_of(ALONE),))), [ONE]),
    "minimum without a rival": (lambda: direct(Minimum((circuit_of(DIRECT),))), [IMPLIED, ONE]),
    "subsets of the direct edge": (lambda: direct(SubsetMinimality()), [IMPLIED]),
    "a head that always attends": (lambda: leaning(ALWAYS), [CONSTANT]),
    "a head that sometimes attends": (lambda: leaning(SOMETIMES), []),
    "silent nodes left out": (lambda: faithful([[0, 0], [0, 0]]), [WHOLE]),
    "a head left out": (lambda: faithful([[1, 0], [0, 0]]), []),
    "an unused program": (lambda: lesioned(DIRECT), [UNUSED]),
    "a used program": (lambda: lesioned(THROUGH_HEAD), []),
    "a program that never attends": (lambda: lesioned(BESIDE, NEVER), [UNUSED]),
    "an unused program whose output stands at cut edges": (lambda: lesioned(DIRECT, ablation=POOLED), []),
    "the same at the partners": (
        lambda: lesioned(DIRECT, ablation=Counterfactual(tuple((p, p) for p in ADDER_TASK.prompts))),
        [],
    ),
    "a shared bias by port": (
        ported,
        [f"{word}: {edge}" for word in ("shared bias", "constant source") for edge in BY_PORT],
    ),
    "a shared bias at a program head": (
        programmed,
        [f"{word}: head 0.0 -> head 1.0 value" for word in ("shared bias", "constant source")],
    ),
    "the need of every edge": (lambda: needed(BETWEEN, Necessity()), []),
    "the need of every edge beside one prompt": (
        lambda: needed(LONE, Necessity()),
        ["means of one prompt: 2"],
    ),
    "one prompt where nothing is cut": (lambda: needed(LONE, Equivalence()), [SAME]),
    "subsets under a pooled mean": (lambda: cut(POOLED, (1, 0, 1), SubsetMinimality()), [IMPLIED]),
    "a minimum under a pooled mean": (
        lambda: cut(POOLED, (1, 0, 1), Minimum((replace(circuit_of(DIRECT), ablation=POOLED),))),
        [IMPLIED, ONE],
    ),
    "the need of an edge that equivalence shows under a pooled mean": (
        lambda: cut(POOLED, (1, 0, 1), Equivalence(), Necessity()),
        [IMPLIED],
    ),
    "the base's program": (lambda: lesioned(THROUGH_HEAD, base=SOMETIMES), [BASE]),
    "the base's program, unused": (lambda: lesioned(DIRECT, base=SOMETIMES), [UNUSED, BASE]),
    "another program in the base": (lambda: lesioned(THROUGH_HEAD, base=ALWAYS), []),
    "partners that turn decisions": (
        lambda: cut(partners(t0=1, t3=0, t1=0), (0, 0, 1), Equivalence()),
        [],
    ),
    "a partner of its own": (
        lambda: cut(partners(t0=1, t3=0, t1=1), (0, 0, 0), Invariance()),
        [CLEAR, DECISION, OWN],
    ),
    "partners that are alike where it matters": (
        lambda: cut(partners(t0=2, t3=0), (1, 0), Equivalence()),
        [SAME],
    ),
    "a mean of one prompt": (lambda: cut(Mean(((0,),)), (1, 0, 1), Equivalence()), [SINGLE]),
    "a mean of one prompt, pooled": (
        lambda: cut(Mean(((0,),), Pooling.ALL), (1, 0, 1), Equivalence()),
        [SINGLE],
    ),
    "a mean of two prompts": (lambda: cut(Mean(((0,), (2,))), (1, 0, 1), Equivalence()), []),
    "a mean that is the value everywhere": (
        lambda: cut(Mean(((0,), (2,))), (1, 0), Equivalence()),
        [SAME],
    ),
    "a model of which nothing is cut": (
        lambda: cut(partners(t0=1, t3=0, t1=0), (1, 0, 0), Faithfulness(), edges=EVERY),
        [WHOLE, SAME],
    ),
    "the need of an edge beside a mean": (
        lambda: cut(Mean(((0,), (2,))), (1, 0, 1), Equivalence(), Necessity()),
        [],
    ),
    "subsets where the empty circuit is a rival": (
        lambda: cut(Mean(((0,), (2,))), (1, 0, 1), SubsetMinimality()),
        [],
    ),
    "a minimum of one edge where the empty circuit is a rival": (
        lambda: cut(MEANT, (1, 0, 1), Minimum((replace(circuit_of(DIRECT), ablation=MEANT),))),
        [],
    ),
}
"""Claims that are proved, and the remarks on the last property of each."""


def rewritten(bundle: Path, remarks: list[str]) -> Path:
    """Change the remarks on the last answer and seal the bundle anew."""
    files = {file.name: file.read_bytes() for file in bundle.iterdir() if file.name != "manifest.json"}
    certificate = json.loads(files["certificate.json"])
    certificate["answers"][-1]["remarks"] = remarks
    maker.seal(bundle, files | {"certificate.json": maker.as_bytes(certificate)})
    return bundle


@pytest.mark.parametrize("name", MADE)
def test_a_bundle_has_its_remarks_and_no_others(name, tmp_path):
    """Prover, checker and oracle agree; each remark left out, and each that does not belong, is refused."""
    make, wanted = MADE[name]
    battery = prove(make())
    assert [*map(str, battery.answers[-1].remarks)] == wanted
    write_bundle(tmp_path / "bundle", battery)
    assert check(tmp_path / "bundle")[0] is Outcome.VALID
    assert falsehoods(tmp_path / "bundle") == []
    wrong = [[one for one in wanted if one != left] for left in wanted]
    known = (IMPLIED, ONE, CONSTANT, WHOLE, UNUSED, BASE, SINGLE, OWN, SAME)
    wrong += [[*wanted, one] for one in known if one not in wanted]
    counted = {OWN: "own partners: 2", SINGLE: "means of one prompt: 1"}
    wrong += [[counted.get(one, one) for one in wanted]] if counted.keys() & set(wanted) else []
    for remarks in wrong:
        outcome, sentence = check(rewritten(tmp_path / "bundle", remarks))
        assert outcome is Outcome.INVALID
        assert "breaks the rule that remarks are those that apply" in sentence
        assert falsehoods(tmp_path / "bundle")


def test_a_circuit_of_a_head_that_always_attends_reads_no_prompt(tmp_path):
    """So the checker refuses it where the prover did not."""
    size = maker.architecture()
    lines = ["default 1", "add 1 when key_token == 3", "otherwise nowhere"]
    made = maker.proving(maker.fitting(size, edges=list(ALONE), programs={"0.0": lines}), "equivalence")
    outcome, sentence = check(made.write(tmp_path / "always"))
    assert outcome is Outcome.INVALID
    assert "breaks the rule that circuits read their prompt" in sentence
    lines[0] = "default 0"
    made = maker.proving(maker.fitting(size, edges=list(ALONE), programs={"0.0": lines}), "equivalence")
    assert check(made.write(tmp_path / "sometimes"))[0] is Outcome.VALID
