"""Bad ports and bad ablations: the prover refuses to claim them, and the checker a bundle that does."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import bundle_maker as maker
import pattern_forgeries
from bundle_maker import Bundle, Prover, architecture, fitting, proving
from circuitproof.errors import CircuitproofError
from circuitproof_check.main import Beside, Outcome, check, inspect
from random_claims import Ask, Spelled, told

PORTED = ["embed -> head 0.0 value", "head 0.0 -> logits"]
WHOLE = ["embed -> head 0.0", "head 0.0 -> logits"]
FIRST = {"0.0": ["default 0", "add 1 when key_position == 0", "otherwise self"]}
Prompts = list[list[int]]


@cache
def _made(kind: str) -> Prover:
    return fitting(edges=list(WHOLE), programs=FIRST if kind == "program" else None)


def prover(kind: str = "neural") -> Prover:
    """Return a fresh bundle whose only head is neural or a program, yet without a certificate."""
    return deepcopy(_made(kind))


def listed(prompts: Prompts, over: str = "position") -> dict[str, Any]:
    """Return a mean over prompts."""
    return {"kind": "mean", "over": over, "prompts": deepcopy(prompts)}


def paired(prompts: Prompts, *others: Any) -> dict[str, Any]:
    """Return each prompt with itself read from the end, and further pairs."""
    return {"kind": "counterfactual", "pairs": [*([one, one[::-1]] for one in prompts), *others]}


def one_other(prompts: Prompts, partner: list[int]) -> dict[str, Any]:
    """Return partners of which the first is another."""
    ablation = paired(prompts)
    ablation["pairs"][0][1] = partner
    return ablation


@dataclass(frozen=True)
class Bad:
    """A circuit that cannot be claimed: fields of it, given the prompts, and what both sides say."""

    said: str
    """By the prover."""
    rule: str
    """By the checker."""
    fields: Callable[[Prompts], dict[str, Any]] = lambda _: {}
    properties: tuple[dict[str, Any], ...] = ({"kind": "equivalence"},)
    head: str = "neural"


def at(place: str) -> tuple[dict[str, Any], ...]:
    """Return robustness somewhere."""
    return ({"kind": "robustness", "epsilon": "1/8", "at": place, "positions": "last"},)


BAD = {
    "a partner of another length": Bad(
        "; want the same number, at least one",
        "partners are as long",
        lambda p: {"ablation": one_other(p, [1] * (1 + len(p[0]) % 4))},
    ),
    "a missing partner": Bad(
        "has no partner; counterfactual ablation wants one",
        "every prompt has a partner",
        lambda p: {"ablation": paired(p[1:])},
    ),
    "two partners": Bad(
        "a prompt has one partner; one is listed twice",
        "prompts have one partner",
        lambda p: {"ablation": paired(p, [p[0], p[0]])},
    ),
    "a partner of an unknown token": Bad(
        "counterfactual ablation: ",
        "tokens are in the vocabulary",
        lambda p: {"ablation": one_other(p, [6] * len(p[0]))},
    ),
    "no prompts of a mean": Bad(
        "a mean is taken over one or more prompts, none of them empty",
        "means are over prompts",
        lambda _: {"ablation": listed([])},
    ),
    "a prompt of a mean twice": Bad(
        "a mean is taken over distinct prompts; one is listed twice",
        "prompts of a mean are distinct",
        lambda p: {"ablation": listed([*p, p[0]])},
    ),
    "an empty prompt of a mean": Bad(
        "a mean is taken over one or more prompts, none of them empty",
        "ablations fit the context",
        lambda p: {"ablation": listed([*p, []])},
    ),
    "a prompt of a mean with an unknown token": Bad(
        "mean ablation: ",
        "tokens are in the vocabulary",
        lambda p: {"ablation": listed([*p, [6]])},
    ),
    "a prompt of a mean beyond the context": Bad(
        "mean ablation: ",
        "ablations fit the context",
        lambda p: {"ablation": listed([*p, [1] * 5], "all")},
    ),
    "a length that no prompt of a mean has": Bad(
        "and no prompt that the mean is taken over has",
        "means have every length",
        lambda p: {"ablation": listed([one for one in p if len(one) != len(p[0])])},
    ),
    "an unknown ablation": Bad(
        "want one of 'mean', 'counterfactual'",
        "ablation is known",
        lambda p: {"ablation": {"kind": "resample", "over": "all", "prompts": p}},
    ),
    "a port among whole heads": Bad(
        "feeds a port, but the granularity of the circuit is head",
        "edges end at their ports",
        lambda _: {"edges": PORTED},
    ),
    "a whole head among ports": Bad(
        "feeds a whole head, but the circuit tells query, key and value apart",
        "edges end at their ports",
        lambda _: {"granularity": "port", "edges": [WHOLE[0], PORTED[0], WHOLE[1]]},
    ),
    "the query of a program": Bad(
        "embed -> head 0.0 query leads nowhere: a program head has a value port only",
        "edges end at their ports",
        lambda _: {"granularity": "port", "edges": ["embed -> head 0.0 query", *PORTED]},
        head="program",
    ),
    "the key of a program": Bad(
        "embed -> head 0.0 key leads nowhere: a program head has a value port only",
        "edges end at their ports",
        lambda _: {"granularity": "port", "edges": ["embed -> head 0.0 key", *PORTED]},
        head="program",
    ),
    "a port of an MLP": Bad(
        "mlp 0 has no value; only heads have ports",
        "edges join nodes",
        lambda _: {"granularity": "port", "edges": ["embed -> mlp 0 value", "mlp 0 -> logits"]},
    ),
    "an unknown granularity": Bad(
        "want one of 'head', 'port'", "granularity is known", lambda _: {"granularity": "neuron"}
    ),
    "no MLPs in a model that has some": Bad(
        "the circuit is of 1 layers of 1 heads",
        "circuit has the sizes",
        lambda _: {"mlps": False},
    ),
    "the input of a head with ports": Bad(
        "head 0.0 input is three inputs where ports are told apart; perturb 'head 0.0 output'",
        "heads with ports have no one input",
        lambda _: {"granularity": "port", "edges": PORTED},
        at("head 0.0 input"),
    ),
    "necessity of no edge": Bad(
        "the circuit keeps no edge; necessity is about edges that are kept",
        "properties of edges have edges",
        lambda p: {"ablation": paired(p), "edges": []},
        ({"kind": "necessity"},),
    ),
    "subset minimality of no edge": Bad(
        "the circuit keeps no edge; subset minimality is about edges that are kept",
        "properties of edges have edges",
        lambda p: {"ablation": paired(p), "edges": []},
        ({"kind": "subset minimality"},),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_prover_and_checker_refuse_with_one_sentence(name, tmp_path):
    """Whatever is answered; here it is left open."""
    bad = BAD[name]
    made = prover(bad.head)
    prompts = made.bundle.domain["prompts"]
    made.claim["circuit"] |= bad.fields(prompts)
    found = told(asked(made.bundle, bad.properties), tmp_path)
    assert isinstance(found.refusal, CircuitproofError)
    assert bad.said in str(found.refusal)
    assert "\n" not in str(found.refusal)
    for prop in bad.properties:
        made.answer(prop, "undecided", {"open": "no time"})
    outcome, sentence = check(made.bundle.write(tmp_path / "forged"))
    assert outcome is Outcome.INVALID
    assert f"breaks the rule that {bad.rule}" in sentence
    assert "\n" not in sentence


def asked(bundle: Bundle, properties: tuple[dict[str, Any], ...]) -> Ask:
    """Return what a bundle claims, as an ask of the prover."""
    claim = bundle.claim
    model = Spelled(claim["architecture"], claim["programs"], bundle.tensors)
    task = {key: claim["task"][key] for key in ("candidates", "answer", "relation")}
    task |= {"prompts": bundle.domain["prompts"]} | {
        key: value for key, value in bundle.domain.items() if key == "pattern"
    }
    return Ask(0, "list", model, claim["circuit"], task, list(properties))


@pytest.mark.parametrize("name", ["good", "mean", "counterfactual", "port"])
def test_what_is_not_spoiled_is_claimed(name, tmp_path):
    """So that each refusal is due to what is bad."""
    made = prover()
    prompts = made.bundle.domain["prompts"]
    fields = {
        "good": {},
        "mean": {"ablation": listed(prompts)},
        "counterfactual": {"ablation": paired(prompts), "edges": []},
        "port": {"granularity": "port", "edges": ["embed -> head 0.0 query", *PORTED]},
    }
    made.claim["circuit"] |= fields[name]
    found = told(asked(made.bundle, ({"kind": "equivalence"}, *at("logits input"))), tmp_path)
    assert found.refusal is None
    assert check(found.bundle, found.model)[0] in (Outcome.VALID, Outcome.REFUTED)


PATTERNS = {
    "patterns are cut to zero": (
        {"ablation": {"kind": "mean", "over": "all", "prompts": [[0], [1, 2]]}},
        "mean ablation is not known over patterns; list prompts",
    ),
    "patterns have whole heads": (
        {"granularity": "port", "edges": PORTED},
        "query, key and value are not told apart over patterns; use whole heads",
    ),
}


@pytest.mark.parametrize("rule", PATTERNS)
@pytest.mark.parametrize("verdict", ["proved", "refuted", "undecided"])
def test_patterns_are_of_whole_heads_and_cut_to_zero(rule, verdict, tmp_path):
    """Partners and means are of listed prompts; what a rule says of all prompts it says of whole heads."""
    fields, said = PATTERNS[rule]
    made = pattern_forgeries.uniform()
    made.bundle.claim["circuit"] |= fields
    replay = {"replay": [{"prompt": 0, "fold": made.fold((0,), made.bundle.claim["circuit"]["edges"])}]}
    evidence = {"proved": made.settled(), "refuted": replay, "undecided": {"open": "no time"}}[verdict]
    bundle = made.sealed({"kind": "equivalence"}, evidence, verdict)
    found = told(asked(bundle, ({"kind": "equivalence"},)), tmp_path)
    assert isinstance(found.refusal, CircuitproofError)
    assert said in str(found.refusal)
    outcome, sentence = check(bundle.write(tmp_path / "forged"))
    assert outcome is Outcome.INVALID
    assert f"breaks the rule that {rule}" in sentence


@pytest.mark.parametrize("kind", ["mean", "counterfactual"])
def test_a_circuit_is_not_perturbed_inside_where_cut_edges_carry_something(kind, tmp_path):
    """The prover does not ask it, and no leaf of the checker shows it."""
    made = prover()
    prompts = made.bundle.domain["prompts"]
    made.claim["circuit"]["ablation"] = listed(prompts) if kind == "mean" else paired(prompts)
    found = told(asked(made.bundle, at("head 0.0 output")), tmp_path)
    assert f"cannot be perturbed under {kind} ablation; perturb 'logits input'" in str(found.refusal)


FORGED = {
    "means that the certificate chooses": lambda p: listed(p[:1], "all"),
    "partners that the certificate chooses": paired,
}


@pytest.mark.parametrize("name", FORGED)
def test_the_claim_alone_says_what_cut_edges_carry(name, tmp_path):
    """Logits with other means or partners are not its logits, and the certificate cannot name any."""

    def cut(bundle: Bundle) -> None:
        bundle.claim["circuit"]["ablation"] = FORGED[name](bundle.domain["prompts"])

    bundle = proving(fitting(edges=list(WHOLE), change=cut), "equivalence")
    prompts = bundle.domain["prompts"]
    assert check(deepcopy(bundle).write(tmp_path / "honest"))[0] is Outcome.VALID
    for place in (lambda one: one, lambda one: one["answers"][0], lambda one: one["answers"][0]["evidence"]):
        naming = deepcopy(bundle)
        place(naming.certificate)["ablation"] = bundle.claim["circuit"]["ablation"]
        assert "keys are the named" in check(naming.write(tmp_path / "naming"))[1]
    if bundle.claim["circuit"]["ablation"]["kind"] == "mean":
        bundle.claim["circuit"]["ablation"] = listed(prompts[1:], "all")
    else:
        bundle.claim["circuit"]["ablation"]["pairs"] = [[prompt, prompt] for prompt in prompts]
    outcome, sentence = check(bundle.write(tmp_path / "forged"))
    assert outcome is Outcome.INVALID
    assert "folds are the logits" in sentence


def test_the_line_tells_apart_claims_that_differ_in_what_cut_edges_carry(tmp_path):
    """The digest is that of the canonical JSON of what the claim says; the JSON has all of it."""
    prompts = prover().bundle.domain["prompts"]
    lines = set()
    for ablation in (listed(prompts), listed(prompts, "all"), listed(prompts[::-1], "all"), paired(prompts)):
        made = fitting(
            edges=list(WHOLE), change=lambda b, cut=ablation: b.claim["circuit"].update(ablation=cut)
        )
        report = inspect(proving(made, "equivalence").write(tmp_path / "bundle"), Beside())
        assert report.outcome is Outcome.VALID
        digest = maker.digest(json.dumps(ablation, sort_keys=True, separators=(",", ":")).encode())
        assert f"8 {'pairs' if 'pairs' in ablation else 'prompts'} {digest[:12]}, 8 prompts" in report.reason
        data = {"over": ablation["over"]} if "over" in ablation else {}
        assert report.claim["cut"] == {**data, "count": "8", "digest": digest}
        lines.add(report.reason)
    assert len(lines) == 4


def test_an_attention_only_model_has_no_tensors_of_mlps(tmp_path):
    """Such a bundle is valid, and one that says that it has MLPs is not."""
    edges = ["embed -> head 0.0", "embed -> logits", "head 0.0 -> logits"]
    bundle = proving(fitting(architecture(mlp_width=0), edges=edges), "equivalence", "faithfulness")
    assert not any(name.startswith("mlp") for name in bundle.tensors)
    assert check(bundle.write(tmp_path / "honest"))[0] is Outcome.VALID
    bad = {"circuit has the sizes": {"mlps": True}, "edges join nodes": {"edges": ["embed -> mlp 0"]}}
    for rule, fields in bad.items():
        forged = deepcopy(bundle)
        forged.claim["circuit"] |= fields
        assert f"breaks the rule that {rule}" in check(forged.write(tmp_path / rule))[1]
    assert maker.every_edge(architecture(mlp_width=0)) == edges
