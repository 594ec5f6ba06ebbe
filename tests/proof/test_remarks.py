from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.ablation import ZERO, Counterfactual, Mean, Pooling
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.circuits.readers import needs_each_edge_to_read, readers
from circuitproof.errors import DeclarationError, InputError
from circuitproof.forward.interface import FINAL_RESIDUAL, Interface
from circuitproof.models.declaration import NO_PROGRAMS
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove, remarks
from circuitproof.proof.claim import Claim
from circuitproof.proof.enclosed import NOT_KNOWN
from circuitproof.proof.evidence import PromptSplit
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import identity_with
from circuitproof.proof.properties.logit_difference import LogitDifferences
from circuitproof.proof.properties.loss import Loss
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.recovered_difference import RecoveredDifference
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.remarks import (
    ConstantScore,
    ConstantSource,
    LeftOut,
    OfBase,
    OpenRemark,
    OwnPartner,
    Plain,
    RemarkContext,
    SharedBias,
    SingleMean,
    Tied,
    Unreached,
    needs_every_edge,
    remarks_on_prompts,
)
from circuitproof.proof.verdict import Answer, Refuted, Verdict
from circuitproof.proof.zero_nodes import is_whole_model
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.rules import ClassTable, OnlyOpener, SameOpener
from circuitproof.tasks.task import Task
from hand_models import (
    ADDED,
    ADDER,
    ADDER_TASK,
    DIRECT,
    IDENTITY,
    PLAIN,
    READ_OFF,
    adder_claim,
    build,
    circuit_of,
    freeze,
    table_task,
)

THROUGH_MLP = ("embed -> mlp 0", "mlp 0 -> logits")
BOTH = (Equivalence(), Necessity())


def said(battery) -> list[list[str]]:
    """Return the remarks on each answer."""
    return [[str(remark) for remark in answer.remarks] for answer in battery.answers]


CHAIN = ("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits")


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (DIRECT, True),
        (THROUGH_MLP, True),
        (CHAIN, True),
        (ADDED, False),
        ((*THROUGH_MLP, "embed -> head 0.0"), False),
        ((*DIRECT, "head 0.0 -> mlp 0"), False),
        ((*THROUGH_MLP, "head 0.0 -> mlp 0"), False),
        (("embed -> head 0.0", "head 0.0 -> logits", "mlp 0 -> logits"), False),
    ],
)
def test_a_chain_is_one_path_and_nothing_beside(edges, expected):
    """A dead edge, a second source or a second way out breaks the argument for implied necessity."""
    assert needs_each_edge_to_read(circuit_of(edges), {}) is expected


CHAIN_TASK = table_task({(0,): 1, (1,): 0})
CHAIN_WEIGHTS = {"embed.token": [[0, 1], [1, 0], [1, 1], [0, 2], [0, 0]]}


def test_necessity_is_implied_by_equivalence_of_a_chain_with_two_answers():
    """And then it is proved, too."""
    battery = prove(
        adder_claim(Equivalence(), Necessity(), weights=CHAIN_WEIGHTS, edges=DIRECT, task=CHAIN_TASK)
    )
    assert said(battery)[1] == ["implied by equivalence"]
    assert battery.answers[1].verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("edges", "answers", "properties"),
    [
        (ADDED, {(0,): 1, (3,): 0}, BOTH),
        (DIRECT, {(0,): 1, (3,): 1}, BOTH),
        (DIRECT, {(0,): 1, (1,): 1, (3,): 0}, BOTH),
        (DIRECT, {(0,): 1, (1,): 0}, (Invariance(), Necessity())),
    ],
    ids=["not a chain", "one answer", "refuted", "not claimed"],
)
def test_necessity_is_not_implied(edges, answers, properties):
    """Each case lacks one part of the argument."""
    claim = adder_claim(*properties, weights=CHAIN_WEIGHTS, edges=edges, task=table_task(answers))
    assert "implied by equivalence" not in said(prove(claim))[1]


THROUGH_HEAD = ("embed -> head 0.0", "head 0.0 -> logits")
ALONE = ("head 0.0 -> logits",)
SOMETIMES = "default 0\nadd 1 when key_token == 3\notherwise nowhere"
"""A program that tells prompts with token 3 from others."""


def nowhere_claim(otherwise: str, edges=THROUGH_HEAD, properties=BOTH) -> Claim:
    """Return a chain that decides by whether its head attends at all, not by what it reads.

    Values are a bias, and the output bias of token 1 is 1/2. Where the program finds token 3, the head
    outputs (1, 0); elsewhere nothing, if it attends nowhere.
    """
    sizes = replace(PLAIN, biases=True, logit_bias=True)
    program = parse(SOMETIMES.replace("nowhere", otherwise))
    weights = {
        "head.0.0.value.bias": [1, 0],
        "head.0.0.output.weight": IDENTITY,
        "logits.weight": READ_OFF,
        "logits.bias": [0, 0.5, 0, 0, 0],
    }
    frozen = freeze(build(weights, sizes, {Head(0, 0): program}))
    return Claim(frozen, circuit_of(edges), table_task({(3, 0): 0, (2, 0): 1}), properties)


def test_a_program_that_may_attend_nowhere_implies_nothing():
    """Here is a chain, proved equivalent with two answers, whose first edge is useless all the same."""
    battery = prove(nowhere_claim("nowhere"))
    assert [answer.verdict for answer in battery.answers] == [Verdict.PROVED, Verdict.REFUTED]
    assert said(battery)[1] == []


def test_a_program_that_falls_back_on_itself_keeps_the_argument():
    """Its rows sum to one, so it passes a constant on and equivalence with two answers fails."""
    battery = prove(nowhere_claim("self"))
    assert battery.answers[0].verdict is Verdict.REFUTED


def test_a_program_head_alone_is_a_chain_that_reads_by_itself():
    """Without its edge nothing tells prompts apart, so necessity and the fewest edges follow."""
    asked = (Equivalence(), Necessity(), SubsetMinimality())
    battery = prove(nowhere_claim("nowhere", ALONE, asked))
    assert [answer.verdict for answer in battery.answers] == [Verdict.PROVED] * 3
    implied = ["implied by equivalence"]
    assert said(battery) == [[], implied, implied]


def test_equivalence_may_be_proved_as_a_part_of_another_property():
    """A circuit that is minimal is equivalent."""
    for asked in (SubsetMinimality(), Minimum((circuit_of(ALONE),))):
        battery = prove(nowhere_claim("nowhere", ALONE, (Necessity(), asked)))
        assert [answer.verdict for answer in battery.answers] == [Verdict.PROVED] * 2
        assert said(battery)[0] == ["implied by equivalence"]


def test_the_minimum_of_one_edge_has_no_smaller_rival_and_without_programs_none_at_all():
    """With the program head there is one more circuit of one edge that reads its prompt."""
    found = prove(nowhere_claim("nowhere", ALONE, (Minimum((circuit_of(ALONE),)),)))
    assert said(found) == [["one edge"]]
    direct = adder_claim(Minimum((circuit_of(DIRECT),)), weights=CHAIN_WEIGHTS, edges=DIRECT, task=CHAIN_TASK)
    assert said(prove(direct)) == [["implied by equivalence", "one edge"]]


def test_the_minimum_of_more_edges_had_rivals():
    """The direct edge reads the prompt too, and had to be refuted."""
    assert said(prove(adder_claim(Minimum((circuit_of(ADDED),))))) == [[]]


@pytest.mark.parametrize(
    ("lines", "always", "never"),
    [
        ("default 0\notherwise self", True, False),
        ("default 1\notherwise nowhere", True, False),
        ("default 0\nadd 1/2\notherwise nowhere", True, False),
        ("default 0\nadd 1 when token_match\notherwise self", True, False),
        ("default 0\notherwise nowhere", False, True),
        ("default 0\nadd 0\nadd 0 when token_match\notherwise nowhere", False, True),
        ("default 0\nadd 0\nadd 1 when token_match\notherwise nowhere", False, False),
        (SOMETIMES, False, False),
    ],
)
def test_the_form_of_a_program_says_whether_it_always_or_never_attends(lines, always, never):
    """What a condition means is not asked; only what attends sometimes tells prompts apart by itself."""
    program = parse(lines)
    assert (program.always_attends, program.never_attends) == (always, never)
    assert (Head(0, 0) in readers({Head(0, 0): program})) is not (always or never)


@pytest.mark.parametrize("lines", ["default 1\notherwise nowhere", "default 0\nadd 2\notherwise nowhere"])
def test_a_program_head_that_always_attends_and_reads_nothing_is_a_constant_source(lines):
    """Its row has weight whatever the tokens, so it passes its constant on."""
    weights = {**LEANING_WEIGHTS, "head.0.0.value.bias": [0, 2]}
    frozen = freeze(build(weights, BIASED, {Head(0, 0): parse(lines)}))
    task = table_task(dict.fromkeys(((0,), (1,), (2,)), 0))
    (answer,) = prove(Claim(frozen, circuit_of(LEANING), task, (Necessity(),))).answers
    assert list(map(str, answer.remarks)) == ["constant source: head 0.0 -> logits"]
    with pytest.raises(InputError, match="reads no prompt"):
        Claim(frozen, circuit_of(ALONE), task, (Equivalence(),))


context_of = st.builds(
    RemarkContext,
    answers=st.dictionaries(
        st.integers(0, 2), st.frozensets(st.sampled_from([0, 1]), min_size=1), min_size=1
    ),
    has_single_classes=st.booleans(),
    circuit=st.sampled_from([circuit_of(DIRECT), circuit_of(ADDED)]),
    programs=st.just(NO_PROGRAMS),
    is_equivalent=st.booleans(),
    unedged=st.lists(st.sampled_from([frozenset({0}), frozenset({1}), frozenset({0, 1}), NOT_KNOWN])).map(
        tuple
    ),
    of_prompts=st.sampled_from([(), (SingleMean(2),), (OwnPartner(1),)]),
    is_as_model=st.sampled_from([True, False, NOT_KNOWN]),
    lacks_edges=st.booleans(),
)
ORDER = (
    Plain.IMPLIED,
    Plain.CLEAR,
    ConstantScore,
    Plain.CONSTANT,
    Plain.ONE_EDGE,
    Plain.DECISION,
    Plain.UNEDGED,
    Plain.WHOLE,
    Plain.NO_EDGES,
    Tied,
    Plain.SAME_LOGITS,
    SharedBias,
    ConstantSource,
    Plain.NO_PROGRAM,
    Plain.UNUSED_PROGRAM,
    OfBase,
    Unreached,
    SingleMean,
    OwnPartner,
    LeftOut,
    Plain.AS_MODEL,
)
"""The remarks as they stand in the table of the format."""
ALLOWED = {
    Kind.EQUIVALENCE: {Plain.CONSTANT, Plain.UNEDGED},
    Kind.SUBSET_MINIMALITY: {Plain.IMPLIED, Plain.CONSTANT},
    Kind.MINIMUM: {Plain.IMPLIED, Plain.CONSTANT, Plain.ONE_EDGE},
    Kind.INVARIANCE: {Plain.IMPLIED, Plain.CLEAR, Plain.DECISION, Plain.UNEDGED},
    Kind.NECESSITY: {Plain.IMPLIED, SharedBias, ConstantSource},
    Kind.ROBUSTNESS: {Plain.DECISION, Plain.UNEDGED, Unreached},
    Kind.FAITHFULNESS: {Plain.DECISION, Plain.UNEDGED, Plain.WHOLE, Tied},
    Kind.AGREEMENT: {Plain.DECISION, Plain.UNEDGED, Plain.SAME_LOGITS},
    Kind.ACCURACY: {ConstantScore, Plain.UNEDGED},
    Kind.LOSS: set(),
    Kind.LOGIT_DIFFERENCE: set(),
    Kind.RECOVERED_DIFFERENCE: {Plain.WHOLE, Plain.NO_EDGES, LeftOut},
    Kind.LESION_IDENTITY: {Plain.NO_PROGRAM, OfBase},
}
OF_ABLATION = {SingleMean, OwnPartner, Plain.AS_MODEL}
decided = st.lists(st.sampled_from([frozenset({0}), frozenset({1}), frozenset({0, 1})]), min_size=1)


@cache
def proved_battery():
    """Return the proofs of all properties of one circuit."""
    claim = adder_claim(Equivalence())
    asked = (
        *four_properties(Fraction(1, 100)),
        Faithfulness(),
        Agreement(circuit_of(DIRECT)),
        SubsetMinimality(),
        Minimum((claim.circuit,)),
        Accuracy(least=2),
        Loss(),
        LogitDifferences(),
        RecoveredDifference(without=(1,)),
        identity_with(claim.frozen, claim.frozen),
    )
    return prove(replace(claim, properties=asked))


@given(st.sampled_from(Kind), context_of, decided)
def test_each_kind_has_its_own_remarks(kind, context, decisions):
    """The table of the format, row by row."""
    battery = proved_battery()
    (prop,) = (one for one in battery.claim.properties if one.kind is kind)
    found = remarks(prop, battery, context, decisions)
    sure = [one.remark if isinstance(one, OpenRemark) else one for one in found]
    kinds = [remark if isinstance(remark, Plain) else type(remark) for remark in sure]
    allowed = set() if kind is Kind.LESION_IDENTITY else set(OF_ABLATION)
    if prop.is_about_edges:
        allowed.remove(Plain.AS_MODEL)
    elif not context.lacks_edges and kind not in (Kind.AGREEMENT, Kind.RECOVERED_DIFFERENCE):
        allowed &= {Plain.AS_MODEL}
    assert set(kinds) <= ALLOWED[kind] | allowed
    assert kinds == sorted(kinds, key=ORDER.index)


@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=5, max_size=5),
    st.sampled_from([DIRECT, THROUGH_MLP]),
)
def test_what_is_called_implied_is_proved(rows, edges):
    """The argument in the docstring, tried on models whose answers are what they decide."""
    tokens = {(token,): 0 if row[0] > row[1] else 1 for token, row in enumerate(rows)}
    claim = adder_claim(*BOTH, weights={"embed.token": rows}, edges=edges, task=table_task(tokens))
    equivalence, necessity = prove(claim).answers
    asked = {place: frozenset({answer}) for place, answer in enumerate(tokens.values())}
    is_equivalent = equivalence.verdict is Verdict.PROVED
    if is_equivalent and needs_every_edge(RemarkContext(asked, claim.circuit, NO_PROGRAMS, is_equivalent)):
        assert necessity.verdict is Verdict.PROVED


def test_invariance_is_implied_where_classes_have_one_right_answer_and_it_is_proved():
    """Prompts of a class that are all decided right are decided alike."""
    task = replace(ADDER_TASK, relation=ClassTable((0, 1, 0, 1)))
    assert said(prove(adder_claim(Equivalence(), Invariance(), task=task))) == [
        [],
        ["implied by equivalence"],
    ]
    assert said(prove(adder_claim(Invariance(), task=task))) == [[]]


def test_invariance_of_a_class_with_two_right_answers_is_not_implied():
    """Equivalence then refutes it."""
    task = replace(ADDER_TASK, relation=ClassTable((0, 0, 0, 0)))
    battery = prove(adder_claim(Equivalence(), Invariance(), task=task))
    assert (battery.answers[1].verdict, said(battery)) == (Verdict.REFUTED, [[], []])


def test_invariance_of_single_prompts_says_only_that_they_are_clear():
    """Both remarks apply where equivalence is proved too, in the order of the table."""
    assert said(prove(adder_claim(Invariance()))) == [["implied by clear decisions"]]
    battery = prove(adder_claim(Equivalence(), Invariance()))
    assert said(battery)[1] == ["implied by equivalence", "implied by clear decisions"]


def test_a_constant_answer_is_remarked_wherever_answers_are_right():
    """Whatever ignores its prompt could do the same."""
    circuit = circuit_of(DIRECT)
    claim = adder_claim(
        Equivalence(),
        Faithfulness(),
        SubsetMinimality(),
        Minimum((circuit,)),
        weights={"mlp.0.down.weight": [[0, 0], [0, 0]], "embed.position": [[1, 0]] * 3},
        edges=DIRECT,
        task=table_task({(3,): 0, (1,): 0}),
    )
    battery = prove(claim)
    assert said(battery)[:1] == [["constant answer"]]
    assert all(
        [str(remark) for remark in answer.remarks] == ["constant answer"]
        for answer in battery.answers
        if answer.verdict is Verdict.PROVED and answer.prop != Faithfulness()
    )


BIASED = replace(PLAIN, biases=True)
LEANING = ("embed -> logits", "head 0.0 -> logits")
LEANING_WEIGHTS = {
    "embed.token": [[2, 1.5], [2, 0], [7, 0], [0, 0], [0, 0]],
    "mlp.0.up.weight": IDENTITY,
    "logits.weight": READ_OFF,
    "attention.0.output.bias": [0, 1],
    "head.0.0.output.weight": IDENTITY,
}


def leaning(handed: list[float], prompts=((0,), (1,), (2,))):
    """Return the answer about a head that reads nothing and hands on a constant, beside a shared bias."""
    weights = {**LEANING_WEIGHTS, "head.0.0.value.bias": handed}
    task = table_task(dict.fromkeys(prompts, 0))
    return prove(Claim(freeze(build(weights, BIASED)), circuit_of(LEANING), task, (Necessity(),))).answers[0]


def test_an_edge_that_matters_for_its_bias_alone_is_remarked():
    """The head hands on nothing; what decides prompt 0 is the bias that its reader loses with the edge."""
    answer = leaning([0, 0])
    assert [str(remark) for remark in answer.remarks] == [
        "shared bias: head 0.0 -> logits",
        "constant source: head 0.0 -> logits",
    ]
    direct, through = answer.findings.edges
    assert (direct.only_bias, through.only_bias, through.flips) == (False, True, (0,))
    assert "head 0.0 -> logits: 1 flips, 0 ties, by a shared bias alone" in answer.findings.words()
    assert answer.findings.to_json()["edges"][1]["only_shared_bias"] is True


def test_an_edge_that_changes_a_decision_beyond_its_bias_is_not_remarked():
    """Prompt 0 flips back with the bias, prompt 1 does not: the edge does more than to bring the bias."""
    answer = leaning([0, 2])
    through = answer.findings.edges[1]
    assert (through.flips, through.only_bias) == ((0, 1), False)
    assert [str(remark) for remark in answer.remarks] == ["constant source: head 0.0 -> logits"]


def test_one_bias_or_another_constant_is_no_shared_bias_alone():
    """On a path with two answers a cut leaves a constant; with the bias it is another, and others flip."""
    weights = LEANING_WEIGHTS | {
        "embed.token": [[3, 0], [0, 3], [0, 0], [0, 0], [0, 0]],
        "head.0.0.value.weight": IDENTITY,
        "attention.0.output.bias": [0, 2],
        "logits.bias": [1, 0, 0, 0, 0],
    }
    sizes = replace(BIASED, logit_bias=True)
    task = table_task({(0,): 0, (1,): 1})
    circuit = circuit_of(("embed -> head 0.0", "head 0.0 -> logits"))
    answer = prove(Claim(freeze(build(weights, sizes)), circuit, task, (Equivalence(), Necessity()))).answers[
        1
    ]
    assert answer.remarks == (Plain.IMPLIED,)


def test_a_second_head_of_the_layer_keeps_the_bias():
    """Then nothing is lost with one edge but what its head hands on."""
    sizes = replace(BIASED, heads=2)
    weights = {**LEANING_WEIGHTS, "head.0.0.value.bias": [0, 1.5]}
    edges = ("embed -> logits", "head 0.0 -> logits", "head 0.1 -> logits")
    task = table_task({(0,): 0, (1,): 0})
    claim = Claim(freeze(build(weights, sizes)), circuit_of(edges, heads=2), task, (Necessity(),))
    assert claim.variants() == claim.circuits()


def test_perturbations_that_reach_some_prompts_are_counted():
    """A position that one prompt reads last is nothing to a longer one."""
    place = Interface(positions=(0,))
    task = table_task({(0,): 1, (1, 1): 0})
    (answer,) = prove(adder_claim(Robustness(Fraction(1, 100), place), task=task)).answers
    assert (answer.verdict, [str(remark) for remark in answer.remarks]) == (
        Verdict.PROVED,
        ["unreached prompts: 1"],
    )
    (answer,) = prove(adder_claim(Robustness(Fraction(1, 100), FINAL_RESIDUAL), task=task)).answers
    assert answer.remarks == ()


def test_only_proofs_have_remarks():
    """A refutation says all that it says."""
    found = prove(adder_claim(Equivalence(), task=table_task({(0,): 0}))).answers[0]
    assert isinstance(found.outcome, Refuted)
    assert found.remarks == ()
    with pytest.raises(DeclarationError, match="remarks on an answer that is refuted"):
        replace(found, remarks=(Plain.CONSTANT,))
    proof = prove(adder_claim(Equivalence(), task=table_task({(0,): 1}))).answers[0]
    assert isinstance(proof, Answer)
    assert isinstance(proof.evidence, PromptSplit)
    assert proof.remarks == (Plain.CONSTANT,)


def test_subset_minimality_of_a_chain_says_no_more_than_equivalence():
    """Each smaller circuit without a dead edge reads a constant, so it cannot decide two answers."""
    chain = adder_claim(SubsetMinimality(), weights=CHAIN_WEIGHTS, edges=DIRECT, task=CHAIN_TASK)
    assert said(prove(chain)) == [["implied by equivalence"]]
    assert said(prove(adder_claim(SubsetMinimality()))) == [[]]


def test_faithfulness_of_the_whole_model_is_remarked():
    """It is compared with itself."""
    every = [str(edge) for edge in whole(circuit_of(DIRECT).graph)]
    assert said(prove(adder_claim(Faithfulness(), edges=every))) == [["whole model"]]
    loud = {"head.0.0.value.weight": [[0, 0], [0, 1]], "head.0.0.output.weight": [[0, 0], [0, 1 / 8]]}
    assert said(prove(adder_claim(Faithfulness(), weights=loud))) == [[]]


SILENCE = {"mlp.0.down.weight": [[0, 0], [0, 0]], "head.0.0.output.weight": [[0, 0], [0, 0]]}


def faithful(edges, sizes=PLAIN, **weights: list[object]) -> list[str]:
    """Return the remarks on the faithfulness of a circuit of a model whose head and MLP can be silent."""
    named = {name.replace("_", "."): value for name, value in weights.items()}
    frozen = freeze(build(ADDER | SILENCE | named, sizes))
    (found,) = said(prove(Claim(frozen, circuit_of(edges), ADDER_TASK, (Faithfulness(),))))
    return [remark for remark in found if remark == str(Plain.WHOLE)]


def test_what_lacks_only_silent_nodes_is_the_whole_model():
    """Zero is all that the head and the MLP put out, so nothing is left out."""
    assert faithful(DIRECT) == ["whole model"]
    assert faithful(("embed -> mlp 0", "embed -> logits")) == ["whole model"]
    assert faithful(THROUGH_MLP) == []


SPEAKING = {"mlp_0_down_bias": [1, 1]}
LOUD = {
    "head_0_0_output_weight": IDENTITY,
    "mlp_0_down_weight": IDENTITY,
    "mlp_0_up_weight": [[0, 0], [0, 0]],
}
"""What comes last in head and MLP is not zero, but what comes first is."""


@pytest.mark.parametrize(
    ("edges", "weights", "is_whole"),
    [
        (DIRECT, {}, True),
        (DIRECT, SPEAKING, False),
        (DIRECT, LOUD, True),
        (DIRECT, LOUD | {"head_0_0_value_bias": [0, 1]}, False),
        (DIRECT, LOUD | {"mlp_0_up_bias": [1, 1]}, False),
        (("embed -> logits", "mlp 0 -> logits"), SPEAKING, False),
        (("embed -> mlp 0", "embed -> logits", "mlp 0 -> logits"), SPEAKING, True),
        (DIRECT, {"attention_0_output_bias": [1, 1]}, False),
        (("embed -> logits", "head 0.0 -> logits"), {"attention_0_output_bias": [1, 1]}, True),
    ],
)
def test_a_bias_that_is_left_out_is_not_nothing(edges, weights, is_whole):
    """Neither that of a silent MLP, nor that which the heads of a layer share; a silent target reads none."""
    assert faithful(edges, BIASED, **weights) == ["whole model"] * is_whole


def test_a_head_that_never_attends_is_silent():
    """Whatever its weights are."""
    head = {"head.0.0.value.weight": IDENTITY, "head.0.0.output.weight": IDENTITY}
    loud = ADDER | {"mlp.0.down.weight": [[0, 0], [0, 0]]} | head
    for lines, expected in (("default 0\notherwise nowhere", True), (SOMETIMES, False)):
        frozen = freeze(build(loud, PLAIN, {Head(0, 0): parse(lines)}))
        assert is_whole_model(frozen, circuit_of(DIRECT)) is expected


def test_ties_that_circuit_and_model_share_are_counted():
    """Faithfulness compares sets, so a circuit that decides nothing can be faithful."""
    nothing = {"embed.token": [[0, 0]] * 5, "mlp.0.down.weight": [[0, 0], [0, 0]]}
    claim = adder_claim(Faithfulness(), weights=nothing, edges=DIRECT)
    (answer,) = prove(claim).answers
    assert answer.remarks == (Plain.WHOLE, Tied(claim.task.size))


BY_BIAS = {
    "embed.token": [[0, 0]] * 5,
    "mlp.0.down.weight": [[0, 0], [0, 0]],
    "logits.weight": [[0, 0]] * 5,
    "logits.bias": [0, 1, 0, 0, 0],
}


def test_what_biases_decide_alone_is_remarked_wherever_decisions_are_proved():
    """Robust at any size, invariant and faithful: no edge has a part in it."""
    frozen = freeze(build(BY_BIAS, replace(PLAIN, logit_bias=True)))
    asked = (Equivalence(), Invariance(), Robustness(Fraction(10**9)), Faithfulness())
    claim = Claim(frozen, circuit_of(DIRECT), table_task({(0,): 1, (1,): 1}, classes=[0, 0]), asked)
    alone = ["constant decision", "decided without edges"]
    equivalence, invariance, *others = said(prove(claim))
    assert equivalence == ["constant answer", "decided without edges"]
    assert invariance == ["implied by equivalence", *alone]
    assert others == [alone, [*alone, "whole model"]]


def test_one_decision_that_edges_make_is_only_constant():
    """Without edges all candidates tie."""
    claim = adder_claim(Invariance(), task=table_task({(0,): 1, (2,): 1}, classes=[0, 0]))
    assert said(prove(claim)) == [["constant decision"]]


def test_a_lesion_identity_without_a_program_head_is_remarked():
    """Then the model is its base, tensor by tensor."""
    frozen = freeze(build(ADDER))
    claim = Claim(frozen, circuit_of(ADDED), ADDER_TASK, (identity_with(frozen, frozen),))
    assert said(prove(claim)) == [["no program head"]]


def lesioned(lines: str, edges, base: str | None = None) -> list[str]:
    """Return the remarks on the lesion identity of a model with a program and a base."""
    heads = {Head(0, 0): parse(lines)}
    before = freeze(build(ADDER, PLAIN, {} if base is None else {Head(0, 0): parse(base)}))
    frozen = freeze(build(ADDER, PLAIN, heads))
    claim = Claim(frozen, circuit_of(edges), ADDER_TASK, (identity_with(before, frozen),))
    return said(prove(claim))[0]


def test_a_lesion_identity_that_takes_nothing_from_the_circuit_is_remarked():
    """The program head is not in the circuit, leads nowhere, or never attends."""
    unused = ["no program head in the circuit"]
    assert lesioned(SOMETIMES, THROUGH_HEAD) == []
    assert lesioned(SOMETIMES, DIRECT) == unused
    assert lesioned(SOMETIMES, (*DIRECT, "embed -> head 0.0")) == unused
    assert lesioned("default 0\notherwise nowhere", (*DIRECT, "head 0.0 -> logits")) == unused


def test_a_program_that_the_base_has_too_is_remarked():
    """It was not installed in this model; another program there was."""
    assert lesioned(SOMETIMES, THROUGH_HEAD, SOMETIMES) == ["program of the base: head 0.0"]
    assert lesioned(SOMETIMES, THROUGH_HEAD, "default 1\notherwise self") == []
    both = ["no program head in the circuit", "program of the base: head 0.0"]
    assert lesioned(SOMETIMES, DIRECT, SOMETIMES) == both


def test_invariance_over_a_pattern_of_single_prompts_says_only_that_they_are_clear():
    """A pattern is treated as a list is."""
    frozen = freeze(build(CHAIN_WEIGHTS | {"logits.weight": READ_OFF}))
    single = Task(
        name="openers",
        alphabet=Vocabulary(5),
        candidates=(0, 1),
        domain=parse_pattern("[0, 1]"),
        answer=OnlyOpener(((0, 1), (1, 0))),
        relation=SameOpener((0, 1)),
    )
    claim = Claim(frozen, circuit_of(DIRECT), single, (Invariance(),))
    assert said(prove(claim)) == [["implied by clear decisions"]]


LENGTHS = ((0,), (1, 2), (2, 1), (3, 3, 3))
COUNTED = {
    "a mean of one prompt stands at every prompt": (Mean(((4,),), Pooling.ALL), "means of one prompt: 4"),
    "a mean over positions is of one prompt where one has the length": (
        Mean(((4,), (1, 1), (2, 2), (0, 1, 2))),
        "means of one prompt: 2",
    ),
    "a mean of two prompts is no remark": (Mean(((4,), (1, 1)), Pooling.ALL), None),
    "partners of their own are counted": (
        Counterfactual((((0,), (0,)), ((1, 2), (1, 2)), ((2, 1), (1, 2)), ((3, 3, 3), (0, 0, 0)))),
        "own partners: 2",
    ),
    "other partners are no remark": (
        Counterfactual(tuple((prompt, tuple(4 - token for token in prompt)) for prompt in LENGTHS)),
        None,
    ),
    "nothing at cut edges is no remark": (ZERO, None),
}


@pytest.mark.parametrize("name", COUNTED)
def test_prompts_are_counted_that_stand_for_themselves_at_cut_edges(name):
    """Of a list of prompts of several lengths."""
    ablation, wanted = COUNTED[name]
    found = remarks_on_prompts(ablation, LENGTHS)
    assert list(map(str, found)) == ([] if wanted is None else [wanted])


def test_a_proof_without_what_no_edge_decides_is_not_decided_without_edges():
    """Where nothing is known of the circuit without edges, nothing is said of it."""
    context = RemarkContext({0: frozenset({0})}, circuit_of(DIRECT), NO_PROGRAMS, is_equivalent=False)
    assert Plain.UNEDGED not in remarks(Equivalence(), proved_battery(), context, ())
