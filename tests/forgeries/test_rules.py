"""For every acceptance rule a bundle that breaks just that rule: refused with it, accepted without it."""

import importlib
import pkgutil
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import bundle_maker as maker
import circuitproof_check
from bundle_maker import Bundle, Prover, architecture, fitting, proving
from circuitproof_check.main import Outcome, check

Change = Callable[[Bundle], None]
FORGERIES: dict[str, Callable[[], Bundle]] = {}
"""The rule that each forgery breaks."""
REFUTING: set[str] = set()
"""Rules about refutations: without the rule the refutation is taken to hold."""
SHAPES = {"rule_reference_lift_has_an_odd_coordinate", "rule_eta_has_the_width"}
"""Rules without which the arithmetic itself stops."""
AGAINST = {
    "rule_architecture_is_the_model_s",
    "rule_programs_are_the_model_s",
    "rule_digest_is_the_model_s",
    "rule_rows_are_the_model_s",
}
"""Rules about a model beside the bundle, tested in test_model.py."""
ZEROS = "0" * 64
BAND = {"kind": "band", "low": "1", "high": "2", "lift": "reference"}
FIRST = {"0.0": ["default 0", "add 1 when key_position == 0", "otherwise self"]}
THROUGH_HEAD = ["embed -> head 0.0", "head 0.0 -> logits"]


def modules() -> list[Any]:
    """Return the modules of the checker, but not the one that runs it when imported."""
    names = [entry.name for entry in pkgutil.iter_modules(circuitproof_check.__path__)]
    return [importlib.import_module(f"circuitproof_check.{name}") for name in names if name != "__main__"]


def forgery(rule: str, *, refuting: bool = False):
    """Enter a function that makes a bundle that breaks `rule`."""

    def enter(make: Callable[[], Bundle]) -> Callable[[], Bundle]:
        assert rule not in FORGERIES
        FORGERIES[rule] = make
        if refuting:
            REFUTING.add(rule)
        return make

    return enter


@cache
def _whole() -> Bundle:
    return proving(fitting(), *maker.KINDS)


def whole() -> Bundle:
    """Return a fresh bundle that proves everything."""
    return deepcopy(_whole())


def changed(rule: str, change: Change, *unpinned: str) -> None:
    """Enter a forgery that changes the bundle that proves everything."""

    def make() -> Bundle:
        bundle = whole()
        bundle.pins -= set(unpinned)
        change(bundle)
        return bundle

    forgery(rule)(make)


def odd(rule: str, *kinds: str, **options: Any) -> None:
    """Enter a forgery whose evidence is right for a claim that is not allowed."""
    forgery(rule)(lambda: proving(fitting(**options), *(kinds or ("equivalence",))))


def refuting(prover: Prover, kind: str, evidence: dict[str, Any], **entry: str) -> Bundle:
    """Return a bundle with a refutation."""
    prover.answer({"kind": kind, **entry}, "refuted", evidence)
    return prover.bundle


def set_file(name: str, edit: Callable[[bytes], bytes]) -> Change:
    """Return the change of a file's bytes before it is sealed."""

    def change(bundle: Bundle) -> None:
        bundle.tamper = lambda files: files.update({name: edit(files[name])})

    return change


def answer(bundle: Bundle, kind: str) -> dict[str, Any]:
    """Return the answer to a property."""
    return bundle.certificate["answers"][maker.KINDS.index(kind)]


changed(
    "rule_keys_are_unique",
    set_file("certificate.json", lambda b: b.replace(b"{", b'{"format": "circuitproof certificate 1",', 1)),
)
changed(
    "rule_constants_are_absent",
    lambda b: b.claim["weights"]["embed.token"].update(rows=float("nan")),
    "tensors",
)
changed("rule_keys_are_named", lambda b: b.claim.update(note="trust me"))
changed(
    "rule_bundle_has_five_files",
    lambda b: setattr(b, "tamper", lambda files: files.update({"note.txt": b"trust me"})),
)
changed("rule_numbers_are_fp32", set_file("weights.safetensors", lambda b: b.replace(b'"F32"', b'"I32"', 1)))
changed("rule_spans_fill_the_file", set_file("weights.safetensors", lambda b: b + bytes(4)))
changed("rule_tensors_are_those_of_the_claim", lambda b: b.tensors.update(note=((1,), [1.0])), "tensors")
changed(
    "rule_stored_shape_is_claimed",
    lambda b: b.tensors.update({"logits.bias": ((6, 1), b.tensors["logits.bias"][1])}),
    "tensors",
)
changed(
    "rule_full_tensor_has_its_digest",
    lambda b: b.claim["weights"]["embed.token"].update(digest=ZEROS),
    "tensors",
)
changed("rule_numbers_are_finite", lambda b: b.tensors["logits.bias"][1].__setitem__(0, float("inf")))
changed("rule_circuit_has_the_sizes", lambda b: b.claim["circuit"].update(layers=2))
changed("rule_ablation_is_zero", lambda b: b.claim["circuit"].update(ablation="mean"))
changed("rule_format_is_known", lambda b: b.claim.update(format="circuitproof claim 2"))
changed("rule_programs_have_heads", lambda b: b.claim["programs"].update({"5.0": FIRST["0.0"]}))
changed("rule_one_per_prompt", lambda b: b.domain["strata"].append("more"))
changed(
    "rule_domain_is_the_claimed", lambda b: b.claim.update(domain={"digest": ZEROS, "prompts": 8}), "domain"
)
changed("rule_tensor_is_of_the_architecture", lambda b: b.tensors.update({"embed.note": ((1,), [1.0])}))
changed(
    "rule_something_is_claimed",
    lambda b: (b.claim["properties"].clear(), b.certificate.update(answers=[], folds=[])),
)
changed("rule_certificate_is_of_the_claim", lambda b: b.certificate.update(claim=ZEROS), "certificate")
changed(
    "rule_every_property_is_answered",
    lambda b: b.certificate["answers"].append(b.certificate["answers"][0]),
)
changed(
    "rule_answer_is_to_the_property", lambda b: answer(b, "equivalence")["property"].update(kind="invariance")
)
changed("rule_every_fold_is_referred_to", lambda b: b.certificate["folds"].append(["0", "0", "1"]))
changed("rule_fold_is_the_logits", lambda b: b.certificate["folds"][0].__setitem__(0, "-1000000"))
changed("rule_split_is_by_the_question", lambda b: answer(b, "invariance")["evidence"].update(split="edge"))
changed("rule_children_exhaust_the_split", lambda b: answer(b, "invariance")["evidence"]["children"].pop())
changed("rule_class_is_decided_alike", lambda b: b.claim["task"]["relation"].update(classes=[0] * 8))
changed(
    "rule_radius_is_the_radius",
    lambda b: answer(b, "robustness")["evidence"]["children"][0].update(radius="1000"),
)
odd("rule_scale_is_positive", size=architecture(attention_scale="-1/2"))
odd("rule_band_is_a_band", size=architecture(norm=BAND | {"low": "3"}))
odd(
    "rule_slope_is_between_zero_and_one", size=architecture(activation={"kind": "leaky relu", "slope": "3/2"})
)
odd("rule_embed_reaches_logits", edges=["mlp 0 -> logits"])
odd("rule_edges_stand_in_order", edges=list(reversed(maker.CIRCUIT)))
odd(
    "rule_edge_leads_to_a_later_stage",
    size=architecture(heads=2),
    edges=["embed -> head 0.0", "head 0.0 -> head 0.1", "head 0.1 -> logits"],
)
odd("rule_weights_are_not_negative", programs={"0.0": ["default -1", "otherwise self"]})
odd("rule_domain_is_not_empty", change=lambda b: b.domain.update(prompts=[], strata=[]))
odd(
    "rule_prompts_are_distinct",
    change=lambda b: (b.domain["prompts"].append(b.domain["prompts"][0]), b.domain["strata"].append("all")),
)
odd(
    "rule_prompt_fits_the_context",
    edges=THROUGH_HEAD,
    programs=FIRST,
    change=lambda b: b.domain["prompts"][0].extend([1] * 4),
)
odd(
    "rule_tokens_are_in_the_vocabulary",
    edges=THROUGH_HEAD,
    programs=FIRST,
    change=lambda b: b.domain["prompts"].__setitem__(0, [1, 99]),
)
odd("rule_candidates_are_a_choice", change=lambda b: b.claim["task"].update(candidates=[3]))
odd("rule_robustness_has_no_final_norm", "robustness", size=architecture(norm=BAND))


@forgery("rule_file_has_its_digest")
def _wrong_manifest() -> Bundle:
    bundle = whole()
    bundle.listed = {"certificate.json": ZEROS}
    return bundle


@forgery("rule_prompts_are_counted")
def _wrong_count() -> Bundle:
    bundle = whole()
    bundle.pins.remove("domain")
    bundle.claim["domain"] = {"digest": maker.digest(maker.as_bytes(bundle.domain)), "prompts": 9}
    return bundle


@forgery("rule_reference_lift_has_an_odd_coordinate")
def _width_one() -> Bundle:
    bundle = whole()
    bundle.claim["architecture"].update(width=1, norm=BAND)
    return bundle


@forgery("rule_answers_are_candidates")
def _answer_outside() -> Bundle:
    bundle = proving(fitting(), "invariance")
    bundle.claim["task"]["answer"]["answers"][0] = 0
    return bundle


def _opened(prompts: list[list[int]], pairs: list[list[int]]) -> Bundle:
    def choose(bundle: Bundle) -> None:
        bundle.domain.update(prompts=prompts, strata=["all"] * len(prompts))

    bundle = proving(fitting(change=choose), "invariance")
    bundle.claim["task"]["answer"] = {"kind": "only opener", "answers": pairs}
    return bundle


@forgery("rule_openers_are_distinct")
def _two_partners() -> Bundle:
    return _opened([[5], [0, 5]], [[5, 1], [5, 3]])


@forgery("rule_prompt_has_one_opener")
def _two_openers() -> Bundle:
    return _opened([[5], [5, 0, 5]], [[5, 1]])


@forgery("rule_rows_increase_within_the_tensor")
def _shuffled_rows() -> Bundle:
    bundle = whole()
    bundle.pins.remove("tensors")
    shape, numbers = bundle.tensors["embed.token"]
    rows = [5, 4, 3, 2, 1, 0]
    stored = [number for row in rows for number in numbers[4 * row : 4 * row + 4]]
    bundle.tensors["embed.token"] = (shape, stored)
    bundle.claim["weights"]["embed.token"]["rows"] = rows
    return bundle


@forgery("rule_kinds_are_claimed_once")
def _claimed_twice() -> Bundle:
    return proving(fitting(), "equivalence", "equivalence")


@forgery("rule_epsilon_is_positive")
def _no_epsilon() -> Bundle:
    return proving(fitting(), "robustness", epsilon=Fraction(0))


@forgery("rule_decision_is_the_answer")
def _wrong_answer() -> Bundle:
    bundle = whole()
    answers = bundle.claim["task"]["answer"]["answers"]
    answers[0] = 1 if answers[0] == 3 else 3
    return bundle


@forgery("rule_decision_is_not_the_answer", refuting=True)
def _right_answer_replayed() -> Bundle:
    prover = fitting()
    return refuting(prover, "equivalence", {"replay": [{"prompt": 0, "fold": prover.fold(0)}]})


def _tied(bundle: Bundle) -> None:
    weight, bias = bundle.tensors["logits.weight"][1], bundle.tensors["logits.bias"][1]
    for token in (3, 4):
        weight[4 * token : 4 * token + 4] = weight[4:8]
        bias[token] = bias[1]


odd("rule_decision_is_clear", "invariance", change=_tied)


@forgery("rule_replay_breaks_invariance", refuting=True)
def _invariant_replay() -> Bundle:
    prover = fitting()
    return refuting(prover, "invariance", {"replay": [{"prompt": 0, "fold": prover.fold(0)}]})


@forgery("rule_lesion_changes_the_decision")
def _idle_edge() -> Bundle:
    return proving(
        fitting(edges=sorted_edges(*maker.CIRCUIT, "embed -> mlp 0"), change=_one_prompt), "necessity"
    )


def _one_prompt(bundle: Bundle) -> None:
    bundle.domain.update(prompts=bundle.domain["prompts"][:1], strata=["all"])


def sorted_edges(*edges: str) -> list[str]:
    """Return edges in the order of a claim."""
    return [edge for edge in maker.every_edge(architecture()) if edge in edges]


@forgery("rule_lesion_keeps_the_decision", refuting=True)
def _needed_edge() -> Bundle:
    prover = fitting()
    without = prover.lesion(0)
    tree = prover.by_prompt(lambda p: {"fold": prover.fold(p), "lesion": prover.fold(p, without)})
    return refuting(prover, "necessity", {"edge": 0, "evidence": tree})


@forgery("rule_radius_exceeds_epsilon")
def _large_epsilon() -> Bundle:
    prover = fitting()
    radius = min(radius for p in range(8) if (radius := prover.radius(p)))
    return proving(prover, "robustness", epsilon=radius)


def _perturbed(eta: list[str], epsilon: str) -> Bundle:
    prover = fitting()
    evidence = {"replay": [{"prompt": 0, "fold": prover.fold(0), "eta": eta}]}
    return refuting(prover, "robustness", evidence, epsilon=epsilon)


@forgery("rule_eta_has_the_width", refuting=True)
def _long_eta() -> Bundle:
    return _perturbed(["0"] * 5, "1")


@forgery("rule_eta_is_within_epsilon", refuting=True)
def _large_eta() -> Bundle:
    prover = fitting()
    table = maker.Naive(prover.bundle, [], [0]).matrix("logits.weight")
    (best,) = prover.decision(0)
    other = next(token for token in (1, 3, 4) if token != best)
    eta = [str(1000 * (a - b)) for a, b in zip(table[other], table[best], strict=True)]
    return _perturbed(eta, "1")


@forgery("rule_eta_breaks_the_decision", refuting=True)
def _idle_eta() -> Bundle:
    return _perturbed(["0"] * 4, "1")


@forgery("rule_model_decides_alike")
def _unfaithful() -> Bundle:
    return proving(fitting(edges=["embed -> logits"]), "faithfulness")


@forgery("rule_model_decides_otherwise", refuting=True)
def _faithful_replay() -> Bundle:
    prover = fitting()
    every = maker.every_edge(prover.claim["architecture"])
    entry = {"prompt": 0, "fold": prover.fold(0), "model": prover.fold(0, every)}
    return refuting(prover, "faithfulness", {"replay": [entry]})


def rules() -> set[str]:
    """Return the names of all acceptance rules."""
    return {name for module in modules() for name in vars(module) if name.startswith("rule_")}


def test_every_rule_has_a_forgery():
    """A rule that nothing breaks might as well not be there."""
    assert rules() - AGAINST == set(FORGERIES)


def test_the_bundle_that_is_forged_is_valid(tmp_path):
    """So that each refusal below is due to the forgery."""
    assert check(whole().write(tmp_path / "bundle"))[0] is Outcome.VALID


@pytest.mark.parametrize("rule", sorted(FORGERIES))
def test_a_forgery_is_refused(rule, tmp_path):
    """Each breaks one rule of the format."""
    outcome, sentence = check(FORGERIES[rule]().write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID
    assert "the refutation" not in sentence


@pytest.mark.parametrize("rule", sorted(set(FORGERIES) - SHAPES))
def test_without_its_rule_a_forgery_passes(rule, tmp_path, monkeypatch):
    """So the rule is what refuses it, and nothing else would."""
    for module in modules():
        if hasattr(module, rule):
            monkeypatch.setattr(module, rule, lambda *_: None)
    outcome, sentence = check(FORGERIES[rule]().write(tmp_path / "bundle"))
    assert outcome is (Outcome.INVALID if rule in REFUTING else Outcome.VALID), sentence
    assert rule not in REFUTING or "the refutation" in sentence
