"""For every acceptance rule a bundle that breaks just that rule: refused by it, accepted without it."""

import ast
import json
import struct
from collections.abc import Callable, Sequence
from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
import circuitproof_check
import enclosed_forgeries
import measure_forgeries
import pattern_forgeries
import rule_forgeries
import softmax_pattern_forgeries
from bundle_maker import FINAL_RESIDUAL, Bundle, Prover, architecture, every_edge, fitting, proving
from circuitproof_check.main import Outcome, check
from rule_removal import without

Change = Callable[[Bundle], None]
FORGERIES: dict[str, Callable[[], Bundle]] = {}
"""The rule that each forgery breaks."""
REFUTING: set[str] = set()
"""Rules about refutations: without the rule the refutation is taken to hold."""
OPEN = {
    "listed_files_are_here",
    "manifests_list_files",
    "property_is_known",
    "verdict_is_known",
    "patterns_are_cut_to_zero",
    "patterns_have_whole_heads",
    "patterns_have_a_mask",
    "numbers_of_prompts_are_of_the_pattern",
    "measures_are_enclosed",
    "weights_are_here_unless_detached",
    "patterns_are_answered_by_tokens_at_the_end",
}
"""Rules whose forgeries prove nothing: without the rule nothing is found to be broken."""
STOPS = {
    "domain_is_not_empty",
    "objects_are_objects",
    "edges_join_nodes",
    "leaves_are_in_the_table",
    "places_are_sides_of_nodes",
    "norm_is_exact",
    "activation_is_exact",
    "needed_tensors_are_here",
    "needed_tensors_are_whole",
    "signs_are_of_forms_in_eta",
    "bounds_are_known",
    "bounds_have_weights",
    "partners_are_pairs",
    "means_are_over_prompts",
    "means_have_every_length",
    "every_prompt_has_a_partner",
    "candidates_are_outputs",
    "prompts_have_the_position",
}
"""Rules without which there is nothing to compute with, and Python itself stops."""
AGAINST = {
    "architecture_is_of_the_model",
    "programs_are_of_the_model",
    "shapes_are_of_the_model",
    "digests_are_of_the_model",
    "rows_are_of_the_model",
    "names_are_of_the_model",
    "declared_alphabet_is_of_the_model",
    "a_base_is_claimed",
    "base_is_of_the_architecture",
    "base_has_the_programs",
    "tables_have_the_shapes",
    "task_has_the_declared_digest",
    "task_is_the_declared",
    "domain_is_the_declared",
    "names_are_the_declared",
    "alphabets_name_each_token_once",
    "outputs_are_the_declared",
    "declared_outputs_have_names_of_their_own",
    "tables_list_the_model",
    "tables_are_of_the_model",
}
"""Rules about a model or a declaration beside the bundle, tested in test_model.py."""
ZEROS = "0" * 64
BAND = {"kind": "band", "low": "1", "high": "2", "lift": "reference"}
FIRST = {"0.0": ["default 0", "add 1 when key_position == 0", "otherwise self"]}
THROUGH_HEAD = ["embed -> head 0.0", "head 0.0 -> logits"]


def calls() -> list[ast.Call]:
    """Return the calls of `require` in the source of the checker."""
    files = sorted(Path(circuitproof_check.__file__).parent.rglob("*.py"))
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    found = [node for node in nodes if isinstance(node, ast.Call)]
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id == "require"]


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


def refuting(prover: Prover, kind: str, evidence: dict[str, Any], **entry: Any) -> Bundle:
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
    "keys_are_unique",
    set_file("certificate.json", lambda b: b.replace(b"{", b'{"format": "circuitproof certificate 3",', 1)),
)
changed(
    "constants_are_absent",
    lambda b: b.claim["weights"]["embed.token"].update(rows=float("nan")),
    "tensors",
)
changed("keys_are_the_named", lambda b: b.claim.update(note="trust me"))
changed(
    "bundles_have_their_files_alone",
    lambda b: setattr(b, "tamper", lambda files: files.update({"note.txt": b"trust me"})),
)
changed("weights_are_here_unless_detached", lambda b: b.claim.update(detached=True))
changed("detached_is_true_or_left_out", lambda b: b.claim.update(detached=False))
changed("numbers_are_fp32", set_file("weights.safetensors", lambda b: b.replace(b'"F32"', b'"I32"', 1)))
changed("spans_fill_the_file", set_file("weights.safetensors", lambda b: b + bytes(4)))
changed("tensors_are_the_claimed", lambda b: b.tensors.update(note=((1,), [1.0])), "tensors")
changed(
    "stored_shape_is_claimed",
    lambda b: b.tensors.update({"logits.bias": ((6, 1), b.tensors["logits.bias"][1])}),
    "tensors",
)
changed(
    "full_tensors_have_their_digests",
    lambda b: b.claim["weights"]["embed.token"].update(digest=ZEROS),
    "tensors",
)
changed("numbers_are_finite", lambda b: b.tensors["logits.bias"][1].__setitem__(0, float("inf")))
changed("circuit_has_the_sizes", lambda b: b.claim["circuit"].update(layers=2))
changed("format_is_known", lambda b: b.claim.update(format="circuitproof claim 2"))
changed("arithmetic_is_known", lambda b: b.claim.update(arithmetic="FP64"))
changed("granularity_is_known", lambda b: b.claim["circuit"].update(granularity="neuron"))
changed("programs_have_heads", lambda b: b.claim["programs"].update({"5.0": FIRST["0.0"]}))
changed("tables_have_one_per_prompt", lambda b: b.domain["strata"].append("more"))
changed("domain_is_the_claimed", lambda b: b.claim.update(domain={"digest": ZEROS, "prompts": 8}), "domain")
changed("tensors_are_known", lambda b: b.tensors.update({"embed.note": ((1,), [1.0])}))
changed(
    "something_is_claimed",
    lambda b: (b.claim["properties"].clear(), b.certificate.update(answers=[], folds=[])),
)
changed("certificate_is_of_the_claim", lambda b: b.certificate.update(claim=ZEROS), "certificate")
changed(
    "every_property_is_answered",
    lambda b: b.certificate["answers"].append(b.certificate["answers"][0]),
)
changed(
    "answers_are_to_the_property", lambda b: answer(b, "equivalence")["property"].update(kind="invariance")
)
changed("every_fold_is_referred_to", lambda b: b.certificate["folds"].append(["0", "0", "1"]))
changed("folds_are_the_logits", lambda b: b.certificate["folds"][0].__setitem__(0, "-1000000"))
changed(
    "digests_are_of_the_logits",
    lambda b: b.certificate["folds"].__setitem__(0, maker.row_digest(b.certificate["folds"][1])),
)
changed("splits_are_by_the_question", lambda b: answer(b, "invariance")["evidence"].update(split="edge"))
changed("children_exhaust_the_split", lambda b: answer(b, "invariance")["evidence"]["children"].pop())
changed("classes_are_decided_alike", lambda b: b.claim["task"]["relation"].update(classes=[0] * 8))
changed(
    "radius_is_the_radius",
    lambda b: answer(b, "robustness")["evidence"]["children"][0].update(radius="1000"),
)
odd("scale_is_positive", size=architecture(attention_scale="-1/2"))
odd("scale_is_a_number_of_FP32", size=architecture(attention_scale="1/3"))
odd("band_is_a_band", size=architecture(norm=BAND | {"low": "3"}))
odd("slope_is_between_0_and_1", size=architecture(activation={"kind": "leaky relu", "slope": "3/2"}))
odd("circuits_read_their_prompt", edges=["mlp 0 -> logits"])
odd("edges_stand_in_order", edges=list(reversed(maker.CIRCUIT)))
odd(
    "edges_lead_forward",
    size=architecture(heads=2),
    edges=["embed -> head 0.0", "head 0.0 -> head 0.1", "head 0.1 -> logits"],
)
odd("weights_are_short_and_not_negative", programs={"0.0": [f"default 1{'0' * 100}", "otherwise self"]})


def unused(rule: str, line: str) -> None:
    """Enter a forgery with a rule of a program that no kept edge reads."""
    odd(
        rule,
        edges=["embed -> mlp 0", "mlp 0 -> logits"],
        programs={"0.0": [FIRST["0.0"][0], line, "otherwise self"]},
    )


unused("programs_are_made_of_words", "add 1 when\tkey_position == 0")
unused("tokens_have_no_order", "add 1 when key_token > 3")
unused("programs_name_known_tokens", "add 1 when key_token == 6")
unused("members_are_distinct", "add 1 when key_token in {0, 00}")
unused("brackets_open_or_close", "add 1 when unmatched {0: 1, 1: 2}")
unused("counts_are_compared_within_their_bound", "add 1 when key_count {0} up to 1 == 2")
unused("conditions_have_few_levels", f"add 1 when {'not ' * 17}key_position == 0")
unused("conditions_are_not_nested_deeply", f"add 1 when {'(' * 33}key_position == 0{')' * 33}")
odd("domain_is_not_empty", change=lambda b: b.domain.update(prompts=[], strata=[]))
odd(
    "prompts_are_distinct",
    change=lambda b: (b.domain["prompts"].append(b.domain["prompts"][0]), b.domain["strata"].append("all")),
)
odd(
    "prompts_fit_the_context",
    edges=THROUGH_HEAD,
    programs=FIRST,
    change=lambda b: b.domain["prompts"][0].extend([1] * 4),
)
odd(
    "tokens_are_in_the_vocabulary",
    edges=THROUGH_HEAD,
    programs=FIRST,
    change=lambda b: b.domain["prompts"].__setitem__(0, [1, 99]),
)
changed("tokens_have_names_of_their_own", lambda b: b.claim["task"].update(names={"1": "x", "3": "x"}))
NAMED = {"1": "no", "3": "yes", "4": "perhaps"}
odd("outputs_are_not_as_many_as_tokens", size=architecture(outputs=6))
odd("outputs_have_rows_of_their_own", size=architecture(outputs=5, tied=True))
changed("candidates_are_outputs", lambda b: b.claim["task"].update(candidates=[1, 3, 4, 6]))
changed("outputs_are_the_candidates", lambda b: b.claim["task"].update(outputs={"1": "no", "3": "yes"}))
changed("outputs_have_names_of_their_own", lambda b: b.claim["task"].update(outputs=NAMED | {"3": "no"}))
changed("position_is_left_out_at_the_end", lambda b: b.claim["task"].update(position=-1))
changed("prompts_have_the_position", lambda b: b.claim["task"].update(position=3))
odd("candidates_are_a_choice", change=lambda b: b.claim["task"].update(candidates=[3]))


changed(
    "leaves_are_in_the_table",
    lambda b: answer(b, "equivalence")["evidence"]["children"][0].update(radius="1"),
)
changed(
    "remarks_are_those_that_apply",
    lambda b: answer(b, "equivalence").update(remarks=["constant answer"]),
    "remarks",
)


@forgery("openers_are_in_the_vocabulary")
def _unknown_opener() -> Bundle:
    return _opened([[5], [0, 5]], [[5, 1], [99, 3]])


@forgery("perturbations_reach_the_logits")
def _nothing_reads_it() -> Bundle:
    prover = fitting(change=lambda b: b.domain.update(prompts=[[1, 2], [3, 4, 5]], strata=["all"] * 2))
    entry = {"kind": "robustness", "epsilon": "1000000", "at": "logits input", "positions": [0]}
    tree = {"point": ["0"] * 4, "weights": [[], []]}
    prover.answer(entry, "proved", prover.by_prompt(lambda p: {"fold": prover.fold(p), "regions": tree}))
    return prover.bundle


@forgery("files_have_their_digests")
def _wrong_manifest() -> Bundle:
    bundle = whole()
    bundle.listed = {"certificate.json": ZEROS}
    return bundle


@forgery("prompts_are_counted")
def _wrong_count() -> Bundle:
    bundle = whole()
    bundle.pins.remove("domain")
    bundle.claim["domain"] = {"digest": maker.digest(maker.as_bytes(bundle.domain)), "prompts": 9}
    return bundle


@forgery("answers_are_candidates")
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


@forgery("openers_are_distinct")
def _two_partners() -> Bundle:
    return _opened([[5], [0, 5]], [[5, 1], [5, 3]])


@forgery("prompts_have_one_opener")
def _two_openers() -> Bundle:
    return _opened([[5], [5, 0, 5]], [[5, 1]])


@forgery("rows_increase_in_the_tensor")
def _row_beyond() -> Bundle:
    bundle = whole()
    bundle.pins.remove("tensors")
    _, numbers = bundle.tensors["embed.token"]
    bundle.tensors["embed.token"] = ((7, 4), [*numbers, 1.0, 1.0, 1.0, 1.0])
    bundle.claim["weights"]["embed.token"]["rows"] = list(range(7))
    return bundle


@forgery("kinds_are_claimed_once")
def _claimed_twice() -> Bundle:
    return proving(fitting(), "equivalence", "equivalence")


@forgery("epsilon_is_positive")
def _no_epsilon() -> Bundle:
    return proving(fitting(), "robustness", epsilon=Fraction(0))


@forgery("decision_is_the_answer")
def _wrong_answer() -> Bundle:
    bundle = whole()
    answers = bundle.claim["task"]["answer"]["answers"]
    answers[0] = 1 if answers[0] == 3 else 3
    return bundle


@forgery("decision_is_not_the_answer", refuting=True)
def _right_answer_replayed() -> Bundle:
    prover = fitting()
    return refuting(prover, "equivalence", {"replay": [{"prompt": 0, "fold": prover.fold(0)}]})


def _tied(bundle: Bundle) -> None:
    weight, bias = bundle.tensors["logits.weight"][1], bundle.tensors["logits.bias"][1]
    for token in (3, 4):
        weight[4 * token : 4 * token + 4] = weight[4:8]
        bias[token] = bias[1]


odd("decision_is_clear", "invariance", change=_tied)


@forgery("replay_breaks_invariance", refuting=True)
def _invariant_replay() -> Bundle:
    prover = fitting()
    return refuting(prover, "invariance", {"replay": [{"prompt": 0, "fold": prover.fold(0)}]})


@forgery("lesion_changes_the_decision")
def _idle_edge() -> Bundle:
    return proving(
        fitting(edges=sorted_edges(*maker.CIRCUIT, "embed -> mlp 0"), change=_one_prompt), "necessity"
    )


def _one_prompt(bundle: Bundle) -> None:
    bundle.domain.update(prompts=bundle.domain["prompts"][:1], strata=["all"])


def sorted_edges(*edges: str) -> list[str]:
    """Return edges in the order of a claim."""
    return [edge for edge in maker.every_edge(architecture()) if edge in edges]


@forgery("lesion_keeps_the_decision", refuting=True)
def _needed_edge() -> Bundle:
    prover = fitting()
    without = prover.lesion(0)
    tree = prover.by_prompt(lambda p: {"fold": prover.fold(p), "lesion": prover.fold(p, without)})
    return refuting(prover, "necessity", {"edge": 0, "evidence": tree})


@forgery("radius_exceeds_epsilon")
def _large_epsilon() -> Bundle:
    prover = fitting()
    radius = min(radius for p in range(8) if (radius := prover.radius(p)))
    return proving(prover, "robustness", epsilon=radius)


def _perturbed(eta: list[str], epsilon: str) -> Bundle:
    prover = fitting()
    evidence = {"replay": [{"prompt": 0, "fold": prover.fold(0), "eta": eta}]}
    return refuting(prover, "robustness", evidence, epsilon=epsilon, **FINAL_RESIDUAL)


@forgery("eta_has_an_entry_per_coordinate", refuting=True)
def _long_eta() -> Bundle:
    return _perturbed([*_breaking_eta(), "0"], "100000")


@forgery("eta_is_within_epsilon", refuting=True)
def _large_eta() -> Bundle:
    return _perturbed(_breaking_eta(), "1")


def _breaking_eta() -> list[str]:
    prover = fitting()
    table = maker.Naive(prover.bundle, [], [0]).matrix("logits.weight")
    (best,) = prover.decision(0)
    other = next(token for token in (1, 3, 4) if token != best)
    return [str(1000 * (a - b)) for a, b in zip(table[other], table[best], strict=True)]


@forgery("eta_breaks_the_decision", refuting=True)
def _idle_eta() -> Bundle:
    return _perturbed(["0"] * 4, "1")


@forgery("model_decides_alike")
def _unfaithful() -> Bundle:
    return proving(fitting(edges=["embed -> logits"]), "faithfulness")


@forgery("model_decides_otherwise", refuting=True)
def _faithful_replay() -> Bundle:
    prover = fitting()
    every = maker.every_edge(prover.claim["architecture"])
    entry = {"prompt": 0, "fold": prover.fold(0), "model": prover.fold(0, every)}
    return refuting(prover, "faithfulness", {"replay": [entry]})


EVERY_EDGE = maker.every_edge(architecture())
DIRECT = ["embed -> logits"]


def test_honest_agreement_is_valid(tmp_path):
    """So that each refusal of one below is due to the forgery."""
    outcome, sentence = check(maker.agreeing(fitting(), EVERY_EDGE).write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, sentence
    assert f"agreement [{len(EVERY_EDGE)} edges] proved" in sentence


@forgery("agreement_has_one_granularity")
def _agreement_of_ports() -> Bundle:
    return maker.agreeing(fitting(), EVERY_EDGE, granularity="port")


@forgery("agreeing_edges_stand_in_order")
def _agreement_in_disorder() -> Bundle:
    return maker.agreeing(fitting(), [*EVERY_EDGE[1:], EVERY_EDGE[0]])


@forgery("agreeing_circuits_read_their_prompt")
def _agreement_with_a_constant() -> Bundle:
    blind = ["mlp 0 -> logits"]
    provers = (fitting(change=_one_prompt, seed=seed) for seed in range(100))
    return maker.agreeing(next(p for p in provers if p.decision(0) == p.decision(0, blind)), blind)


@forgery("agreement_is_with_another_circuit")
def _agreement_with_itself() -> Bundle:
    return maker.agreeing(fitting(), list(maker.CIRCUIT))


@forgery("circuits_decide_alike")
def _disagreement() -> Bundle:
    return maker.agreeing(fitting(edges=DIRECT), EVERY_EDGE)


@forgery("circuits_decide_otherwise_or_tie", refuting=True)
def _agreeing_replay() -> Bundle:
    prover = fitting()
    entry = {"prompt": 0, "fold": prover.fold(0), "other": prover.fold(0, EVERY_EDGE)}
    told = {"granularity": "head", "edges": EVERY_EDGE}
    return refuting(prover, "agreement", {"replay": [entry]}, **told)


def test_agreement_with_the_same_live_edges_is_refused(tmp_path):
    """An edge that leads nowhere makes no other circuit."""
    edges = sorted_edges(*DIRECT, "embed -> mlp 0")
    outcome, sentence = check(maker.agreeing(fitting(edges=DIRECT), edges).write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID
    assert "agreement is with another circuit" in sentence


def test_two_equal_ties_refute_agreement(tmp_path):
    """And they do not prove it."""
    prover = fitting(change=_tied)
    entry = {"prompt": 0, "fold": prover.fold(0), "other": prover.fold(0, EVERY_EDGE)}
    told = {"granularity": "head", "edges": EVERY_EDGE}
    bundle = refuting(prover, "agreement", {"replay": [entry]}, **told)
    assert check(bundle.write(tmp_path / "refuted"))[0] is Outcome.REFUTED
    outcome, sentence = check(maker.agreeing(fitting(change=_tied), EVERY_EDGE).write(tmp_path / "proved"))
    assert outcome is Outcome.INVALID
    assert "decision is clear" in sentence


def test_agreement_over_a_pattern_is_judged_by_both_circuits(tmp_path):
    """Margins of one alone, or through brackets in the other, say nothing."""
    outcome, sentence = check(pattern_forgeries.agreeing().write(tmp_path / "honest"))
    assert outcome is Outcome.VALID, sentence
    _, sentence = check(pattern_forgeries.agreeing_through_brackets().write(tmp_path / "brackets"))
    assert "leaves allow the programs" in sentence
    _, sentence = check(pattern_forgeries.agreeing(is_single=True).write(tmp_path / "single"))
    assert "leaves are in the table" in sentence


AT_MLP = {"at": "mlp 0 output", "positions": "last"}
TINY = Fraction(1, 10**6)
Tree = dict[str, Any]


def kept(bounds: int = 0, **changes: Any) -> Tree:
    """Return the leaf of a region whose ball alone keeps the decision: no bound has weight."""
    return {"point": ["0"] * 4, "weights": [["0"] * bounds] * 2} | changes


def cut(form: list[str], **children: Tree) -> Tree:
    """Return a split; `up` is where the form is positive and `down` where it is not."""
    names = {"up": ">", "down": "<="}
    return {"sign": form, "children": {names[name]: child for name, child in children.items()}}


ALWAYS = ["1", "0", "0", "0", "0"]
"""A form that is positive everywhere."""
FIRST_COORDINATE = ["0", "1", "0", "0", "0"]


def around(
    tree: Tree, *, epsilon: Fraction = TINY, place: dict[str, Any] | None = None, **options: Any
) -> Bundle:
    """Return a bundle that says that a ball at some place keeps the decision of a prompt, by a tree."""
    given = {"edges": ["embed -> mlp 0", "mlp 0 -> logits"], "change": _one_prompt} | options
    prover = fitting(**given)
    entry = {"kind": "robustness", "epsilon": str(epsilon), **(place or AT_MLP)}
    prover.answer(entry, "proved", prover.by_prompt(lambda p: {"fold": prover.fold(p), "regions": tree}))
    return prover.bundle


@pytest.mark.parametrize(
    "tree",
    [
        kept(),
        cut(FIRST_COORDINATE, up=kept(1), down=kept(1)),
        cut(ALWAYS, up=kept(1), down={"void": ["1"]}),
        cut(ALWAYS, up=kept(1)),
    ],
)
def test_a_tree_of_regions_is_valid(tree, tmp_path):
    """So that each refusal of one below is due to the forgery."""
    outcome, sentence = check(around(tree).write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, sentence


def shaken(rule: str, tree: Tree, **options: Any) -> None:
    """Enter a forgery about a tree of regions."""
    forgery(rule)(lambda: around(tree, **options))


def named(numbers: Sequence[int], *trees: Tree, epsilon: Fraction = TINY) -> Bundle:
    """Return a bundle about some prompts, each with its own tree or the number of an earlier prompt."""

    def choose(bundle: Bundle) -> None:
        prompts = [bundle.domain["prompts"][number] for number in numbers]
        bundle.domain.update(prompts=prompts, strata=["all"] * len(prompts))

    prover = fitting(edges=["embed -> mlp 0", "mlp 0 -> logits"], change=choose)
    entry = {"kind": "robustness", "epsilon": str(epsilon), **AT_MLP}
    prover.answer(entry, "proved", prover.by_prompt(lambda p: {"fold": prover.fold(p), "regions": trees[p]}))
    return prover.bundle


@pytest.mark.parametrize("number", [1, 2, -1, True, "0"])
def test_a_tree_is_named_by_an_earlier_prompt(number, tmp_path):
    """Not by itself, by a later one, or by no number."""
    outcome, sentence = check(named((0, 1), kept(), {"as prompt": number}).write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID
    assert "integers are" in sentence


def test_a_named_tree_is_checked_for_each_prompt_that_has_it(tmp_path):
    """It is valid where it holds for both; where it holds for the first alone, it is refused."""
    places = iter(range(10**6))

    def is_valid(numbers, *trees, epsilon):
        return check(named(numbers, *trees, epsilon=epsilon).write(tmp_path / str(next(places))))[0] is (
            Outcome.VALID
        )

    def holds_for_one(epsilon):
        return [is_valid((p,), kept(), epsilon=epsilon) for p in range(4)]

    sizes = ((Fraction(1, 2**power), holds_for_one(Fraction(1, 2**power))) for power in range(24))
    epsilon, alone = next((size, alone) for size, alone in sizes if any(alone) and not all(alone))
    good, bad = alone.index(True), alone.index(False)
    other = [p for p in range(4) if p not in (good, bad)]
    assert not is_valid((good, bad), kept(), {"as prompt": 0}, epsilon=epsilon)
    for p in other:
        assert is_valid((good, p), kept(), {"as prompt": 0}, epsilon=epsilon) == alone[p]


shaken("signs_are_of_forms_in_eta", cut([*FIRST_COORDINATE, "0"], up=kept(1), down=kept(1)))
shaken(
    "bounds_are_known",
    {"sign": ALWAYS, "children": {">": kept(1), "!=": kept(1)}},
)
shaken("children_leave_no_sign_out", cut(FIRST_COORDINATE, up=kept(1)))
shaken("void_regions_are_empty", {"void": []})
shaken("points_have_an_entry_per_coordinate", kept(point=["0"] * 5))
shaken("competitors_have_weights", kept(weights=[[]]))
shaken("margins_stay_positive", kept(), epsilon=Fraction(10**6))
shaken("bounds_have_weights", cut(ALWAYS, up=kept(2)))
shaken(
    "weights_of_inequalities_are_not_negative",
    cut(ALWAYS, up=kept(1, weights=[["-100000000000"]] * 2)),
    epsilon=Fraction(1000),
)
shaken("places_are_sides_of_nodes", kept(), place=AT_MLP | {"at": "head 9.9 output"})
shaken(
    "positions_are_in_every_prompt",
    kept(point=["0"] * 8),
    place=AT_MLP | {"positions": [1, 3]},
    change=lambda b: b.domain.update(prompts=[[1, 2]], strata=["all"]),
)
shaken("positions_increase", kept(point=["0"] * 8), place=AT_MLP | {"positions": [0, 0]})


def _on_the_edge(bundle: Bundle) -> None:
    """Let the first hidden number of the only prompt be zero, so that any perturbation gives it a sign."""
    bundle.domain.update(prompts=[[1]], strata=["all"])
    naive = maker.Naive(bundle, [], [1])
    weight, token, position = (naive.matrix(n) for n in ("mlp.0.up.weight", "embed.token", "embed.position"))
    read = [a + b for a, b in zip(token[1], position[0], strict=True)]
    bundle.tensors["mlp.0.up.bias"][1][0] = -float(sum(a * b for a, b in zip(weight[0], read, strict=True)))


shaken("branches_are_known", kept(), place=AT_MLP | {"at": "mlp 0 input"}, change=_on_the_edge)


def _even_scores(bundle: Bundle) -> None:
    """Let a head attend to both of two tokens: keys are so short that scores hardly differ."""
    bundle.domain.update(prompts=[[1, 2]], strata=["all"])
    shape, keys = bundle.tensors["head.0.0.key.weight"]
    bundle.tensors["head.0.0.key.weight"] = (shape, [number / 1024 for number in keys])


def _even_without(role: str) -> Change:
    """Return the change that also makes queries or values the same for every token."""

    def change(bundle: Bundle) -> None:
        _even_scores(bundle)
        shape, numbers = bundle.tensors[f"head.0.0.{role}.weight"]
        bundle.tensors[f"head.0.0.{role}.weight"] = (shape, [0.0] * len(numbers))

    return change


def at_head(positions: object) -> dict[str, Any]:
    """Return what a head reads, at some positions."""
    return {"at": "head 0.0 input", "positions": positions}


shaken("scores_are_linear", kept(), place=at_head("last"), edges=THROUGH_HEAD, change=_even_without("value"))
shaken("products_are_linear", kept(), place=at_head([0]), edges=THROUGH_HEAD, change=_even_without("query"))


def undecided(entry: dict[str, Any] | None = None, verdict: str = "undecided") -> Bundle:
    """Return a bundle that leaves its only property open."""
    prover = fitting()
    prover.answer(entry or {"kind": "necessity"}, verdict, {"open": "no time"})
    return prover.bundle


def set_header(edit: Callable[[dict[str, Any]], None]) -> Change:
    """Return the change of the header of the weights."""

    def rewrite(content: bytes) -> bytes:
        start = 8 + struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8:start])
        edit(header)
        spelled = json.dumps(header).encode()
        return struct.pack("<Q", len(spelled)) + spelled + content[start:]

    return set_file("weights.safetensors", rewrite)


changed("lists_are_lists", lambda b: b.domain.update(strata="abcdefgh"))
changed("strings_are_strings", lambda b: b.claim["task"].update(name=3))
changed("booleans_are_booleans", lambda b: b.claim["architecture"].update(tied=0))
changed("integers_are_integers", lambda b: b.claim["circuit"].update(layers=True))
changed(
    "integers_are_in_range",
    lambda b: answer(b, "equivalence")["evidence"]["children"][0].update(fold=-len(b.certificate["folds"])),
)
changed("rationals_are_rationals", lambda b: b.claim["architecture"].update(attention_scale="+1/2"))
changed("objects_are_objects", lambda b: b.claim["task"].update(names=[]))
changed("spans_fit_the_shapes", set_header(lambda h: h["embed.token"]["data_offsets"].append(0)))
changed("names_are_of_tokens", lambda b: b.claim["task"].update(names={"6": "y"}))
changed("answer_is_known", lambda b: b.claim["task"]["answer"].update(kind="guess"))
changed("relation_is_known", lambda b: b.claim["task"]["relation"].update(kind="guess"))
changed("edges_join_nodes", lambda b: b.claim["circuit"]["edges"].__setitem__(0, "embed -> head 00.0"))
changed("norm_is_known", lambda b: b.claim["architecture"].update(norm={"kind": "batch"}))
changed("needed_tensors_are_here", lambda b: b.tensors.pop("mlp.0.up.weight"))
odd("attention_is_exact", size=architecture(attention="softmax"))
odd("attention_is_known", edges=THROUGH_HEAD, programs=FIRST, size=architecture(attention="hardmax"))
odd("activation_is_known", size=architecture(activation={"kind": "swish"}))
odd("activation_is_exact", size=architecture(activation={"kind": "gelu", "form": "tanh"}))
odd(
    "form_of_gelu_is_known",
    edges=["embed -> logits"],
    size=architecture(activation={"kind": "gelu", "form": "exact; model compared"}),
)
odd("lift_is_known", size=architecture(norm=BAND | {"lift": "up"}))
odd("band_has_both_sides", size=architecture(width=1, norm=BAND | {"lift": "continuous"}))
forgery("property_is_known")(lambda: undecided({"kind": "beauty"}))
forgery("verdict_is_known")(lambda: undecided(verdict="surely"))


@forgery("norm_is_exact")
def _layer_norm() -> Bundle:
    bundle = proving(fitting(size=architecture(norm=BAND)), "equivalence")
    bundle.claim["architecture"]["norm"] = {"kind": "layer", "epsilon": "1/100000"}
    return bundle


@forgery("epsilon_of_a_norm_is_positive")
def _no_layer_norm() -> Bundle:
    bundle = same_tensors(size=architecture(norm=BAND))
    norm = {"kind": "layer", "epsilon": "0"}
    (claimed,) = bundle.claim["properties"]
    (answered,) = bundle.certificate["answers"]
    for size in (bundle.claim["architecture"], claimed["base"]["architecture"]):
        size["norm"] = norm
    answered["property"]["base"]["architecture"]["norm"] = norm
    return bundle


@forgery("listed_files_are_here")
def _file_elsewhere() -> Bundle:
    bundle = whole()
    bundle.tamper = lambda files: (files.clear(), files.update(notes=b"text"))
    bundle.listed = {"../bundle/notes": maker.digest(b"text")}
    return bundle


@forgery("manifests_list_files")
def _nothing() -> Bundle:
    bundle = whole()
    bundle.tamper = lambda files: files.clear()
    return bundle


@forgery("openers_have_partners")
def _three_of_a_pair() -> Bundle:
    return _opened([[5], [0, 5]], [[5, 1, 3]])


def _reprogrammed(old: str, new: str) -> Bundle:
    lines = ["default 1", "add 0 when not token_match", "otherwise nowhere"]
    bundle = proving(fitting(programs={"0.0": lines}), "equivalence")
    bundle.claim["programs"]["0.0"] = [new if line == old else line for line in lines]
    return bundle


@forgery("programs_are_framed")
def _otherwise_unknown() -> Bundle:
    return _reprogrammed("otherwise nowhere", "otherwise here")


@forgery("rules_add_weights")
def _rule_without_add() -> Bundle:
    return _reprogrammed("add 0 when not token_match", "plus 0 when not token_match")


@forgery("conditions_are_known")
def _condition_with_a_rest() -> Bundle:
    return _reprogrammed("add 0 when not token_match", "add 0 when not token_match)")


@forgery("program_keys_are_heads")
def _other_spelling_of_a_head() -> Bundle:
    bundle = proving(fitting(programs=FIRST), "equivalence")
    bundle.claim["programs"] = {"00.0": FIRST["0.0"]}
    return bundle


def _kept(bundle: Bundle, name: str, rows: list[int]) -> Bundle:
    """Keep only some rows of a tensor."""
    bundle.claim["weights"] = maker.pinned(bundle.tensors)
    bundle.pins.remove("tensors")
    shape, numbers = bundle.tensors[name]
    size = len(numbers) // shape[0]
    kept = [number for row in rows for number in numbers[size * row : size * (row + 1)]]
    bundle.tensors[name] = ((len(rows), *shape[1:]), kept)
    bundle.claim["weights"][name]["rows"] = rows
    return bundle


@forgery("digests_are_digests")
def _no_digest() -> Bundle:
    bundle = _kept(whole(), "logits.bias", [1, 3, 4])
    bundle.claim["weights"]["logits.bias"]["digest"] = "none"
    return bundle


@forgery("needed_rows_are_here")
def _twin_row() -> Bundle:
    def equal(bundle: Bundle) -> None:
        bundle.tensors["logits.bias"][1][3] = bundle.tensors["logits.bias"][1][4]

    return _kept(proving(fitting(change=equal), "equivalence"), "logits.bias", [1, 4])


@forgery("needed_tensors_are_whole")
def _half_a_matrix() -> Bundle:
    return _kept(whole(), "mlp.0.up.weight", [0, 1])


@forgery("replays_are_single")
def _two_replays() -> Bundle:
    bundle = whole()
    replay = answer(bundle, "necessity")["evidence"]["children"][0]["replay"]
    replay.append(replay[0])
    return bundle


@forgery("a_tie_needs_no_eta", refuting=True)
def _perturbed_tie() -> Bundle:
    prover = fitting(change=_tied)
    evidence = {"replay": [{"prompt": 0, "fold": prover.fold(0), "eta": ["1"] * 4}]}
    return refuting(prover, "robustness", evidence, epsilon="1", **FINAL_RESIDUAL)


EVERY = every_edge(architecture())
Made = Callable[[list[list[int]]], dict[str, Any]]
"""What cut edges carry, given the prompts."""


def mean(prompts: list[list[int]], over: str = "all") -> dict[str, Any]:
    """Return the mean over some prompts."""
    return {"kind": "mean", "over": over, "prompts": prompts}


def partnered(*pairs: list[list[int]]) -> dict[str, Any]:
    """Return partners."""
    return {"kind": "counterfactual", "pairs": [list(pair) for pair in pairs]}


def mirrored(prompts: list[list[int]]) -> dict[str, Any]:
    """Return partners that are prompts read from the end."""
    return partnered(*([prompt, prompt[::-1]] for prompt in prompts))


def cutting(made: Made, *kinds: str, **options: Any) -> Bundle:
    """Return a proof about a circuit whose cut edges carry something; it is remarked before it is forged."""
    change = options.pop("change", lambda _: None)

    def cut_edges(bundle: Bundle) -> None:
        change(bundle)
        bundle.claim["circuit"]["ablation"] = made(bundle.domain["prompts"])

    bundle = proving(fitting(change=cut_edges, **options), *(kinds or ("equivalence",)))
    maker.remark(bundle)
    bundle.pins.discard("remarks")
    return bundle


@pytest.mark.parametrize(
    "made",
    [
        mean,
        mirrored,
        lambda prompts: mean(prompts, "position"),
        lambda _: mean([[0, 1, 2], [4]]),
        lambda prompts: partnered(*([prompt, prompt] for prompt in prompts)),
    ],
)
@pytest.mark.parametrize("granularity", ["head", "port"])
@pytest.mark.parametrize("edges", [THROUGH_HEAD, maker.CIRCUIT, ["embed -> logits"], EVERY])
def test_a_proof_about_what_cut_edges_carry_is_valid(made, granularity, edges, tmp_path):
    """So that each refusal of one below is due to the forgery; the naive pass agrees on every logit."""
    pairs = [edge.split(" -> ") for edge in edges]
    ported = [f"{source} -> {port}" for source, target in pairs for port in maker.ports(target, ())]
    bundle = cutting(
        made,
        "equivalence",
        "invariance",
        "robustness",
        *(["faithfulness"] if edges == EVERY else []),
        edges=ported if granularity == "port" else list(edges),
        change=lambda b: b.claim["circuit"].update(granularity=granularity),
    )
    outcome, sentence = check(bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, sentence
    assert f"{ablation(bundle)['kind']} ablation" in sentence
    assert (" into ports" in sentence) == (granularity == "port")


def forged(rule: str, made: Made, forge: Change = lambda _: None, **options: Any) -> None:
    """Enter a forgery about what cut edges carry, changed after it is proved."""

    def make() -> Bundle:
        bundle = cutting(made, **options)
        forge(bundle)
        return bundle

    forgery(rule)(make)


def ablation(bundle: Bundle) -> dict[str, Any]:
    """Return what cut edges carry."""
    return bundle.claim["circuit"]["ablation"]


forged("ablation_is_known", mean, lambda b: ablation(b).update(kind="resample"))
forged(
    "means_are_over_positions_or_all",
    lambda prompts: mean(prompts, "position"),
    lambda b: ablation(b).update(over="token"),
)
forged("means_are_over_prompts", mean, lambda b: ablation(b).update(prompts=[]))
forged("prompts_of_a_mean_are_distinct", lambda prompts: mean([*prompts, prompts[0]]))
forged(
    "means_have_every_length",
    lambda prompts: mean(list(prompts), "position"),
    lambda b: ablation(b).update(prompts=[one for one in ablation(b)["prompts"] if len(one) > 1]),
)
forged("partners_are_pairs", mirrored, lambda b: ablation(b)["pairs"][0].append([0]))
forged("partners_are_as_long", lambda prompts: partnered(*([one, [*one, 1][-4:]] for one in prompts)))
forged(
    "prompts_have_one_partner",
    mirrored,
    lambda b: ablation(b)["pairs"].insert(0, [b.domain["prompts"][0], b.domain["prompts"][0]]),
)
forged(
    "ablations_fit_the_context",
    lambda prompts: partnered(*mirrored(prompts)["pairs"], [[0] * 5, [1] * 5]),
)
forged("every_prompt_has_a_partner", mirrored, lambda b: ablation(b)["pairs"].pop())
odd("edges_end_at_their_ports", edges=["embed -> head 0.0 value", "head 0.0 -> logits"])


@forgery("properties_of_edges_have_edges")
def _no_edge_is_needed() -> Bundle:
    return cutting(mean, "necessity", change=lambda b: b.claim["circuit"].update(edges=[]))


@forgery("leaves_allow_the_ablation")
def _shaken_inside() -> Bundle:
    def change(bundle: Bundle) -> None:
        _one_prompt(bundle)
        bundle.claim["circuit"]["ablation"] = mirrored(bundle.domain["prompts"])

    return around(kept(), change=change)


@forgery("heads_with_ports_have_no_one_input")
def _three_inputs() -> Bundle:
    def change(bundle: Bundle) -> None:
        _one_prompt(bundle)
        bundle.claim["circuit"]["granularity"] = "port"

    edges = ["embed -> head 0.0 value", "head 0.0 -> logits"]
    return around(kept(), place=at_head([0]), edges=edges, programs=FIRST, change=change)


def _open_pattern(**circuit: Any) -> Bundle:
    made = pattern_forgeries.uniform()
    made.bundle.claim["circuit"] |= circuit
    return made.sealed({"kind": "equivalence"}, {"open": "no time"}, "undecided")


forgery("patterns_are_cut_to_zero")(lambda: _open_pattern(ablation=mean([[0], [1, 2]])))


@forgery("patterns_have_a_mask")
def _unmasked_pattern() -> Bundle:
    bundle = _open_pattern()
    bundle.claim["architecture"]["mask"] = "none"
    bundle.claim["programs"] = {}
    return bundle


@forgery("patterns_are_answered_by_tokens_at_the_end")
def _pattern_elsewhere() -> Bundle:
    bundle = _open_pattern()
    bundle.claim["task"]["position"] = 0
    return bundle


forgery("mask_is_none_or_left_out")(
    lambda: proving(fitting(architecture(mask="causal"), edges=["embed -> logits"]), "equivalence")
)
forgery("programs_look_behind_a_mask")(
    lambda: proving(fitting(architecture(mask="none"), programs=FIRST), "equivalence")
)
forgery("patterns_have_whole_heads")(
    lambda: _open_pattern(granularity="port", edges=["embed -> head 0.0 value", "head 0.0 -> logits"])
)
DIRECT = ["embed -> logits"]
THROUGH_MLP = ["embed -> mlp 0", "mlp 0 -> logits"]


def smaller(edges: list[str], most: int) -> list[list[str]]:
    """Return the circuits up to a size, by trying all sets of edges."""
    return [list(kept) for size in range(1, most + 1) for kept in combinations(edges, size) if is_whole(kept)]


def is_whole(kept: tuple[str, ...]) -> bool:
    """Say whether every edge reaches the logits and embed does."""
    reached = {"logits"}
    for _ in kept:
        reached |= {edge.split(" -> ")[0] for edge in kept if edge.split(" -> ")[1] in reached}
    return "embed" in reached and all(edge.split(" -> ")[1] in reached for edge in kept)


def answers(prover: Prover) -> list[int]:
    """Return the table of right answers."""
    return prover.claim["task"]["answer"]["answers"]


def wrong(prover: Prover, edges: list[str]) -> list[int]:
    """Return the prompts that a circuit decides wrong."""
    right = answers(prover)
    return [p for p in range(len(prover.prompts)) if prover.decision(p, edges) != {right[p]}]


def tree(prover: Prover, edges: list[str], prompt: int | None = None) -> dict[str, Any]:
    """Return a replay of a prompt, by default one that is decided wrong; a split where there is none."""
    missed = wrong(prover, edges) if prompt is None else [prompt]
    if missed:
        return {"replay": [{"prompt": missed[0], "fold": prover.fold(missed[0], edges)}]}
    return prover.by_prompt(lambda p: {"fold": prover.fold(p, edges)})


def fewest(
    prover: Prover, listed: list[list[str]] | None, trees: dict[int, dict[str, Any]] | None = None
) -> Bundle:
    """Return a bundle that claims minimality; `trees` replaces the evidence about some circuits."""
    entry = {"kind": "subset minimality"} if listed is None else {"kind": "minimum", "circuits": listed}
    edges = prover.edges if listed is None else every_edge(prover.claim["architecture"])
    circuits = smaller(edges, len(prover.edges))
    children = [(trees or {}).get(n) or tree(prover, one) for n, one in enumerate(circuits)]
    prover.answer(entry, "proved", {"split": "circuit", "children": children})
    prover.bundle.claim["weights"] = maker.pinned(prover.bundle.tensors)
    return prover.bundle


def suiting(edges: list[str], is_suitable: Callable[[Prover], bool], **options: Any) -> Prover:
    """Return the first random bundle with a circuit for which something holds."""
    provers = (fitting(edges=edges, seed=seed, **options) for seed in range(200))
    return next(prover for prover in provers if is_suitable(prover))


def two_prompts(bundle: Bundle) -> None:
    """Leave two prompts, so that many circuits decide the task."""
    bundle.domain.update(prompts=bundle.domain["prompts"][:2], strata=["all"] * 2)


def minimum(prover: Prover) -> list[list[str]]:
    """Return the circuits of the claim's size that decide the task."""
    graph = every_edge(prover.claim["architecture"])
    return [
        c for c in smaller(graph, len(prover.edges)) if len(c) == len(prover.edges) and not wrong(prover, c)
    ]


def test_a_proof_of_minimality_is_valid(tmp_path):
    """So that each refusal of one below is due to the forgery."""
    prover = suiting(THROUGH_MLP, lambda p: bool(wrong(p, DIRECT)))
    assert check(fewest(prover, minimum(prover)).write(tmp_path / "minimum"))[0] is Outcome.VALID
    prover = suiting(THROUGH_MLP, lambda p: bool(wrong(p, DIRECT)))
    assert check(fewest(prover, None).write(tmp_path / "subsets"))[0] is Outcome.VALID


@forgery("expected_circuit_decides_the_answer")
def _expected_is_wrong() -> Bundle:
    prover = suiting(THROUGH_MLP, lambda p: len(set(answers(p))) > 1)
    candidates = prover.claim["task"]["candidates"]
    answers(prover)[0] = next(token for token in candidates if token != answers(prover)[0])
    return fewest(prover, None, {0: prover.by_prompt(lambda p: {"fold": prover.fold(p)})})


@forgery("other_circuit_decides_otherwise")
def _other_is_right() -> Bundle:
    edges = ["embed -> mlp 0", "embed -> logits", "mlp 0 -> logits"]
    prover = suiting(edges, lambda p: len(wrong(p, DIRECT)) < len(p.prompts))
    right = next(p for p in range(len(prover.prompts)) if p not in wrong(prover, DIRECT))
    trees = {n: tree(prover, one, right) for n, one in enumerate(smaller(edges, 3)) if one == DIRECT}
    return fewest(prover, None, trees)


@forgery("the_claims_circuit_is_listed")
def _own_circuit_is_not_listed() -> Bundle:
    prover = suiting(THROUGH_HEAD, lambda _: True)
    for seed in range(200):
        prover = fitting(edges=list(THROUGH_HEAD), seed=seed)
        answers(prover)[:] = [min(prover.decision(p, THROUGH_MLP)) for p in range(len(prover.prompts))]
        if wrong(prover, THROUGH_HEAD) and wrong(prover, DIRECT) and minimum(prover):
            break
    return fewest(prover, minimum(prover))


@forgery("listed_circuits_have_its_size")
def _listed_circuit_is_smaller() -> Bundle:
    prover = suiting(
        THROUGH_MLP, lambda p: not wrong(p, DIRECT) and len(set(answers(p))) > 1, change=two_prompts
    )
    return fewest(prover, [DIRECT, *minimum(prover)])


@forgery("expected_circuits_are_distinct")
def _listed_twice() -> Bundle:
    prover = suiting(THROUGH_MLP, lambda p: bool(wrong(p, DIRECT)))
    return fewest(prover, [*minimum(prover), minimum(prover)[0]])


@forgery("expected_circuits_are_among_the_smaller")
def _dead_edge() -> Bundle:
    prover = suiting(["embed -> head 0.0", "embed -> logits"], lambda p: len(set(answers(p))) > 1)
    candidates = prover.claim["task"]["candidates"]
    answers(prover)[0] = next(token for token in candidates if token != answers(prover)[0])
    return fewest(prover, None)


@forgery("circuit_is_one_of_the_smaller", refuting=True)
def _larger_circuit() -> Bundle:
    prover = suiting(
        THROUGH_MLP, lambda p: not wrong(p, every_edge(p.claim["architecture"])), change=two_prompts
    )
    everything = every_edge(prover.claim["architecture"])
    evidence = {"circuit": everything, "evidence": tree(prover, everything)}
    prover.answer({"kind": "minimum", "circuits": minimum(prover)}, "refuted", evidence)
    return prover.bundle


Tables = dict[str, str]


def same_tensors(
    change: Callable[[Tables, Tables], None] = lambda *_: None,
    refuted: str | None = None,
    size: dict[str, Any] | None = None,
    **declared: Any,
) -> Bundle:
    """Return a bundle that claims the lesion identity, its tables changed before the evidence is made."""
    prover = fitting(size, edges=THROUGH_HEAD, programs=FIRST)
    table = {name: entry["digest"] for name, entry in maker.pinned(prover.bundle.tensors).items()}
    base, artifact = dict(table), dict(table)
    change(base, artifact)
    before = {"architecture": dict(prover.claim["architecture"]), "programs": dict(FIRST), "tensors": base}
    before |= declared
    names = sorted(name for name in table if not name.startswith("head.0.0."))
    evidence: dict[str, Any] = {
        "split": "tensor",
        "children": [{"same": artifact[name]} for name in names],
    }
    entry = {"kind": "lesion identity", "base": before, "artifact": artifact}
    if refuted is not None:
        prover.answer(entry, "refuted", {"tensor": refuted})
    else:
        prover.answer(entry, "proved", evidence)
    return prover.bundle


forgery("frozen_tensors_are_the_same")(
    lambda: same_tensors(lambda base, _: base.update({"mlp.0.up.bias": ZEROS}))
)
forgery("artifact_lists_its_tensors")(lambda: same_tensors(lambda _, artifact: artifact.update(extra=ZEROS)))
forgery("artifact_has_the_claimed_digests")(
    lambda: same_tensors(lambda base, after: (base.update(SWAPPED), after.update(SWAPPED)))
)
forgery("base_has_the_architecture")(lambda: same_tensors(architecture=architecture(attention="softmax")))
forgery("base_lists_its_tensors")(lambda: same_tensors(lambda base, _: base.update(extra=ZEROS)))
forgery("tensor_is_frozen", refuting=True)(
    lambda: same_tensors(
        lambda base, _: base.update({"head.0.0.value.bias": ZEROS}), refuted="head.0.0.value.bias"
    )
)
forgery("tensor_is_not_the_same", refuting=True)(lambda: same_tensors(refuted="mlp.0.up.bias"))
SWAPPED = {"mlp.0.up.bias": ZEROS}
"""A digest that the claim's own weights do not have."""


def test_an_honest_lesion_identity_is_valid(tmp_path):
    """Readouts may differ; a changed frozen tensor refutes."""
    kept = same_tensors(lambda base, _: base.update({"head.0.0.value.bias": ZEROS}))
    assert check(kept.write(tmp_path / "kept"))[0] is Outcome.VALID
    broken = same_tensors(lambda base, _: base.update({"mlp.0.up.bias": ZEROS}), refuted="mlp.0.up.bias")
    assert check(broken.write(tmp_path / "broken"))[0] is Outcome.REFUTED


OTHERS = (
    pattern_forgeries,
    enclosed_forgeries,
    measure_forgeries,
    rule_forgeries,
    softmax_pattern_forgeries,
)
for _of in OTHERS:
    for _rule, _make in _of.FORGED.items():
        forgery(_rule, refuting=_rule in _of.REFUTING)(_make)
    STOPS |= _of.STOPPING


def test_a_proof_in_enclosed_arithmetic_is_valid(tmp_path):
    """So that each refusal of one below is due to the forgery."""
    assert check(enclosed_forgeries.honest().write(tmp_path / "enclosed"))[0] is Outcome.VALID
    assert check(measure_forgeries.honest().write(tmp_path / "measures"))[0] is Outcome.VALID
    assert check(softmax_pattern_forgeries.honest().write(tmp_path / "sums"))[0] is Outcome.VALID


def test_a_proof_with_answers_by_a_rule_is_valid(tmp_path):
    """So that each refusal of one below is due to the forgery."""
    assert check(rule_forgeries.honest().write(tmp_path / "rule"))[0] is Outcome.VALID


def test_a_proof_about_a_pattern_is_valid(tmp_path):
    """So that each refusal of one below is due to the forgery."""
    outcome, sentence = check(pattern_forgeries.honest().write(tmp_path / "pattern"))
    assert outcome is Outcome.VALID
    assert sentence == (
        "model not checked, task without a declaration; 2 edges, zero ablation, "
        'all 18 prompts of a pattern, 3 candidates: equivalence proved (task "tiny")'
    )


def test_every_rule_stands_in_one_place_and_has_a_forgery():
    """A rule that nothing breaks might as well not be there."""
    names = [ast.literal_eval(call.args[0]) for call in calls()]
    assert sorted(names) == sorted([*FORGERIES, *AGAINST])


def test_the_bundle_that_is_forged_is_valid(tmp_path):
    """So that each refusal below is due to the forgery."""
    assert check(whole().write(tmp_path / "bundle"))[0] is Outcome.VALID


@pytest.mark.parametrize("rule", sorted(FORGERIES))
def test_a_forgery_is_refused_by_its_rule(rule, tmp_path):
    """Each breaks one rule of the format, and the sentence names it."""
    outcome, sentence = check(FORGERIES[rule]().write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID
    assert f"breaks the rule that {rule.replace('_', ' ')}" in sentence


@pytest.mark.parametrize("rule", sorted(set(FORGERIES) - STOPS))
def test_without_its_rule_a_forgery_passes(rule, tmp_path, monkeypatch):
    """So the rule is what refuses it, and nothing else would."""
    without(rule, monkeypatch)
    outcome, sentence = check(FORGERIES[rule]().write(tmp_path / "bundle"))
    otherwise = Outcome.REFUTED if rule in REFUTING else Outcome.VALID
    assert outcome is (Outcome.INCOMPLETE if rule in OPEN else otherwise), sentence


@pytest.mark.parametrize("rule", sorted(STOPS))
def test_without_a_rule_that_stops_nothing_is_accepted(rule, tmp_path, monkeypatch):
    """The list of such rules holds no other."""
    without(rule, monkeypatch)
    outcome, sentence = check(FORGERIES[rule]().write(tmp_path / "bundle"))
    assert outcome is Outcome.FAILURE
    assert sentence.startswith("the checker failed")
