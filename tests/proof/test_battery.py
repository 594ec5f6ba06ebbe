from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.errors import NotExactError
from circuitproof.models.operators import Attention, BandNorm, Gelu, GeluForm, LayerNorm, Lift
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.evidence import (
    EdgeSplit,
    FoldLeaf,
    OneEdge,
    Open,
    PromptSplit,
    Radius,
    Replay,
)
from circuitproof.proof.findings import LISTED, EdgeWitnesses
from circuitproof.proof.fold import Fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.search import Effort, Method
from circuitproof.proof.verdict import Answer, Verdict, settle
from circuitproof.tasks.rules import ClassTable
from hand_models import (
    ADDED,
    ADDER,
    ADDER_TASK,
    DIRECT,
    IDENTITY,
    PLAIN,
    adder_claim,
    build,
    circuit_of,
    freeze,
    table_task,
)

TOKENS = tuple((token,) for token in range(5))
THROUGH_MLP = ("embed -> mlp 0", "mlp 0 -> logits")
ALL = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 2)), Faithfulness())
BAND = BandNorm(Fraction(1, 2), Fraction(2), Lift.CONTINUOUS)


def answer_to(prop, **parts) -> Answer:
    """Return the only answer to a claim about the adder."""
    (answer,) = prove(adder_claim(prop, **parts)).answers
    return answer


def counted(answer: Answer) -> tuple[Verdict, int, int]:
    """Return a verdict with its count."""
    return answer.verdict, answer.met, answer.obligations


def shown_in(refuted) -> list[tuple]:
    """Return the prompts that a refutation replays, with their perturbations."""
    assert isinstance(refuted.evidence, Replay)
    return [(one.prompt, one.perturbation) for one in refuted.evidence.prompts]


def test_equivalence_is_proved_by_a_leaf_for_every_prompt():
    """Each prompt is an obligation of its own, and each is met."""
    answer = answer_to(Equivalence())
    assert counted(answer) == (Verdict.PROVED, 4, 4)
    assert isinstance(answer.evidence, PromptSplit)
    assert len(answer.evidence.children) == 4


def test_equivalence_is_refuted_by_its_first_wrong_prompt_and_all_are_counted():
    """One replay convinces; the rest tells how wrong the claim is."""
    answer = answer_to(Equivalence(), task=table_task({(0,): 1, (1,): 1, (2,): 1, (3,): 1}))
    assert counted(answer) == (Verdict.REFUTED, 2, 4)
    assert shown_in(answer) == [((1,), None)]
    assert answer.findings.counterexamples == ((1,), (3,))


@pytest.mark.parametrize("wanted", [0, 1])
def test_a_tie_refutes_equivalence_whatever_the_answer(wanted):
    """Floats would break the tie by rounding or by the order of the candidates."""
    answer = answer_to(Equivalence(), task=table_task({(4,): wanted, (1,): 0}))
    assert counted(answer) == (Verdict.REFUTED, 1, 2)
    assert answer.findings.counterexamples == ((0,),)


def test_every_counterexample_is_counted_beyond_those_listed():
    """A model of zeros ties everywhere: 125 prompts are wrong."""
    task = table_task(dict.fromkeys(product(range(5), repeat=3), 0))
    answer = answer_to(Equivalence(), task=task, weights={"embed.token": [[0, 0]] * 5})
    assert counted(answer) == (Verdict.REFUTED, 0, 125)
    assert len(answer.findings.counterexamples) == 125
    assert len(answer.findings.to_json()["counterexamples"]) == LISTED


def test_invariance_has_an_obligation_per_class():
    """Tokens 0 and 2 are decided alike, and so are 1 and 3."""
    answer = answer_to(Invariance(), task=replace(ADDER_TASK, relation=ClassTable((7, -1, 7, -1))))
    assert counted(answer) == (Verdict.PROVED, 2, 2)
    assert isinstance(answer.evidence, PromptSplit)
    assert len(answer.evidence.children) == 4


def test_invariance_is_refuted_by_a_pair_of_one_class():
    """The first prompt of the class and the first that differs from it."""
    task = table_task({(0,): 1, (2,): 1, (1,): 0, (3,): 0}, (0, 0, 0, 1))
    answer = answer_to(Invariance(), task=task)
    assert counted(answer) == (Verdict.REFUTED, 1, 2)
    assert shown_in(answer) == [((0,), None), ((1,), None)]
    assert answer.findings.counterexamples == ((0, 2),)


@pytest.mark.parametrize("classes", [(0, 0, 1), (0, 1, 2)], ids=["with another", "alone"])
def test_invariance_is_refuted_by_a_tie(classes):
    """Without a decision there is none that could be the same, even in a class of one."""
    answer = answer_to(Invariance(), task=table_task({(3,): 0, (4,): 0, (1,): 0}, classes))
    assert answer.verdict is Verdict.REFUTED
    assert answer.findings.counterexamples == ((1,),)
    assert shown_in(answer) == [((4,), None)]


def test_two_ties_of_the_same_candidates_are_not_invariant():
    """Equal sets are not equal decisions here: the property asks for the same singleton."""
    answer = answer_to(Invariance(), task=table_task({(4,): 0, (0, 4): 0}, (0, 0)))
    assert counted(answer) == (Verdict.REFUTED, 0, 1)
    assert answer.findings.counterexamples == ((0,),)


def test_classes_of_one_prompt_are_invariant_where_it_is_clear():
    """There is nothing else to agree with, and the count says how little that is."""
    assert counted(answer_to(Invariance())) == (Verdict.PROVED, 4, 4)


def test_necessity_lists_flips_and_ties_apart():
    """The table stands in `ADDER`; token 4 ties with all edges and witnesses nothing."""
    task = table_task({(0,): 1, (1,): 0, (2,): 1, (3,): 0, (4,): 0})
    answer = answer_to(Necessity(), task=task)
    through, direct, out = circuit_of(ADDED)
    assert counted(answer) == (Verdict.PROVED, 3, 3)
    assert answer.findings.edges == (
        EdgeWitnesses(through, (0,), (2,)),
        EdgeWitnesses(direct, (3,), (1,)),
        EdgeWitnesses(out, (0,), (2,)),
    )
    assert isinstance(answer.evidence, EdgeSplit)
    assert [replay.prompts[0].prompt for replay in answer.evidence.children] == [(0,), (3,), (0,)]


def test_a_witness_that_ties_is_a_witness_where_nothing_flips():
    """Token 1 loses its decision without the direct edge, though no other takes its place."""
    answer = answer_to(Necessity(), edges=DIRECT, task=table_task({(1,): 0}))
    assert answer.verdict is Verdict.PROVED
    assert answer.findings.edges[0].ties == (0,)
    assert answer.findings.edges[0].flips == ()
    (replay,) = answer.evidence.children
    leaf = replay.prompts[0].leaf
    assert (leaf.fold.logits, leaf.second.logits) == ((1, 0), (0, 0))


def test_a_redundant_edge_is_refuted_by_a_tree_over_all_prompts():
    """That no prompt needs it is a statement about every prompt."""
    edges = ("embed -> head 0.0", "head 0.0 -> logits", *ADDED)
    answer = answer_to(Necessity(), edges=edges)
    assert counted(answer) == (Verdict.REFUTED, 3, 5)
    assert isinstance(answer.evidence, OneEdge)
    assert answer.evidence.edge == 0
    assert [leaf.fold == leaf.second for leaf in answer.evidence.evidence.children] == [True] * 4
    assert [found.flips + found.ties for found in answer.findings.edges] == [(), (0, 2), (3, 1), (), (0, 2)]


def test_a_dead_edge_is_never_necessary():
    """It leads nowhere; a circuit that lists it claims too much."""
    answer = answer_to(Necessity(), edges=(*ADDED, "embed -> head 0.0"))
    assert answer.verdict is Verdict.REFUTED
    assert answer.evidence.edge == 0


def test_where_everything_ties_no_edge_is_necessary():
    """A tie that becomes a clear decision is a change, but there was no decision to lose."""
    answer = answer_to(Necessity(), task=table_task({(4,): 0}))
    assert counted(answer) == (Verdict.REFUTED, 0, 3)


def test_robustness_gives_the_exact_radius_of_every_prompt():
    """The rows of the output embedding are two apart, so each radius is half a margin."""
    answer = answer_to(Robustness(Fraction(1, 3)))
    sizes = [Radius(Fraction(number)) for number in ("1/2", "1/2", "1", "1/2")]
    assert counted(answer) == (Verdict.PROVED, 4, 4)
    assert [leaf.radius for leaf in answer.evidence.children] == sizes
    assert list(answer.findings.radii) == sizes


def test_an_epsilon_equal_to_the_radius_is_refuted_and_any_smaller_one_proved():
    """The radius is attained; a strict and a weak inequality differ just here."""
    refuted = answer_to(Robustness(Fraction(1, 2)))
    assert counted(refuted) == (Verdict.REFUTED, 1, 4)
    assert shown_in(refuted) == [((0,), (Fraction(1, 2), Fraction(-1, 2)))]
    assert answer_to(Robustness(Fraction(1, 2) - Fraction(1, 10**30))).verdict is Verdict.PROVED


def test_the_perturbation_of_a_refutation_replays_through_the_model():
    """Put into the position embedding it is part of the residual, and the decision is lost."""
    epsilon = Fraction(3, 2)
    answer = answer_to(Robustness(epsilon), edges=DIRECT, task=table_task({(3,): 0}))
    (replayed,) = answer.evidence.prompts
    assert max(map(abs, replayed.perturbation)) <= epsilon
    moved = [list(map(float, replayed.perturbation)), [0, 0], [0, 0]]
    claim = adder_claim(
        Equivalence(), edges=DIRECT, task=table_task({(3,): 0}), weights={"embed.position": moved}
    )
    battery = prove(claim)
    assert battery.folded.of(claim.circuit)[0].decision == {0, 1}
    assert battery.answers[0].verdict is Verdict.REFUTED


def test_a_tied_prompt_is_not_robust_and_nothing_shows_it():
    """η = 0; the prompt has no radius in the findings."""
    answer = answer_to(Robustness(Fraction(1, 100)), task=table_task({(3,): 0, (4,): 0}))
    assert counted(answer) == (Verdict.REFUTED, 1, 2)
    assert shown_in(answer) == [((4,), (0, 0))]
    assert answer.findings.radii == (Radius(Fraction(1, 2)), None)


def test_candidates_with_one_direction_are_robust_to_anything():
    """Only their biases tell them apart, and no perturbation of the residual moves those."""
    answer = answer_to(
        Robustness(Fraction(10**9)),
        weights={"logits.weight": [[1, 2]] * 5, "logits.bias": [1, 0, 0, 0, 0]},
        sizes=replace(PLAIN, logit_bias=True),
    )
    assert answer.verdict is Verdict.PROVED
    assert {leaf.radius for leaf in answer.evidence.children} == {Radius(None)}
    assert answer.findings.distribution() == {}


def test_of_three_candidates_the_nearest_decides_though_another_is_second():
    """Logits 4, 7/2 and 0: the radius is that of the last, 4/2, not (1/2)/(1/8)."""
    weights = {"embed.token": [[4, 0]] * 5, "logits.weight": [[1, 0], [7 / 8, 0], [0, 1], [0, 0], [0, 0]]}
    task = table_task({(0,): 0}, candidates=(0, 1, 2))
    proved = answer_to(Robustness(Fraction(19, 10)), weights=weights, edges=DIRECT, task=task)
    assert proved.evidence == PromptSplit(
        (FoldLeaf(Fold((4, Fraction(7, 2), 0)), radius=Radius(Fraction(2))),)
    )
    refuted = answer_to(Robustness(Fraction(5)), weights=weights, edges=DIRECT, task=task)
    assert refuted.evidence.prompts[0].perturbation == (-2, 2)


def test_an_unstable_branch_leaves_the_traced_method_undecided_where_the_complete_one_proves():
    """The mass of a side may leave the band; the decision does not mind, which a trace cannot see."""
    weights = {"logits.norm.scale": [1, 1], "mlp.0.norm.scale": [1, 1]}
    claim = adder_claim(
        Equivalence(),
        Robustness(Fraction(1)),
        weights=weights,
        sizes=replace(PLAIN, norm=BAND),
        edges=DIRECT,
        task=table_task({(3,): 0}),
    )
    assert [answer.verdict for answer in prove(claim).answers] == [Verdict.PROVED, Verdict.PROVED]
    battery = prove(claim, Effort(Method.BRANCH))
    assert [answer.verdict for answer in battery.answers] == [Verdict.PROVED, Verdict.UNDECIDED]
    assert isinstance(battery.answers[1].evidence, Open)
    assert battery.answers[1].evidence.reason == "prompt 0 is open: branch unstable: norm at mass"
    assert counted(battery.answers[1])[1:] == (0, 1)
    assert settle(claim.properties, battery.answers) is Verdict.UNDECIDED


def test_a_tie_is_refuted_by_doing_nothing_after_a_norm_too():
    """There is no decision to keep, whatever bends afterwards."""
    weights = {"logits.norm.scale": [1, 1], "logits.weight": [[1, 0]] * 2 + [[0, 0]] * 3}
    answer = answer_to(
        Robustness(Fraction(1)), weights=weights, sizes=replace(PLAIN, norm=BAND), edges=DIRECT
    )
    assert counted(answer) == (Verdict.REFUTED, 0, 4)
    assert answer.evidence.prompts[0].perturbation == (0, 0)


def test_faithfulness_compares_with_the_whole_model_and_equal_ties_are_equal():
    """The head adds nothing, so all edges decide what these three do, token 4's tie included."""
    task = table_task(dict.fromkeys(TOKENS, 0))
    answer = answer_to(Faithfulness(), task=task)
    assert counted(answer) == (Verdict.PROVED, 5, 5)
    assert all(leaf.fold == leaf.second for leaf in answer.evidence.children)


def test_faithfulness_is_refuted_where_the_sets_differ():
    """Without the MLP token 0 is decided otherwise, 2 ties, and 4 no longer does."""
    task = table_task(dict.fromkeys(TOKENS, 0))
    answer = answer_to(Faithfulness(), edges=DIRECT, task=task)
    assert counted(answer) == (Verdict.REFUTED, 2, 5)
    assert answer.findings.counterexamples == ((0,), (2,), (4,))
    (replayed,) = answer.evidence.prompts
    assert replayed.prompt == (0,)
    assert replayed.leaf.fold != replayed.leaf.second


numbers = st.integers(-2, 2)
token_rows = st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=5, max_size=5)
matrices = st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=2, max_size=2)
answer_rows = st.lists(st.sampled_from([0, 1]), min_size=5, max_size=5)
class_rows = st.lists(st.integers(0, 2), min_size=5, max_size=5)


def naive_fold(edges, row, down) -> Fold:
    """Return the logits of the adder with another `down`, edge by edge."""
    read = row if "embed -> mlp 0" in edges else [0, 0]
    bent = [max(number, 0) for number in read]
    added = [sum(a * b for a, b in zip(line, bent, strict=True)) for line in down]
    direct = row if "embed -> logits" in edges else [0, 0]
    out = added if "mlp 0 -> logits" in edges else [0, 0]
    return Fold(tuple(Fraction(a + b) for a, b in zip(direct, out, strict=True)))


def naive_verdicts(edges, rows, down, answers, classes) -> list[bool]:
    """Return which properties hold, by their definitions: each prompt, each pair, each corner."""
    found = [naive_fold(edges, row, down).decision for row in rows]
    whole = [naive_fold(ADDED, row, down).decision for row in rows]
    pairs = [(a, b) for a in range(5) for b in range(5) if classes[a] == classes[b]]
    lesions = [[naive_fold(set(edges) - {edge}, row, down).decision for row in rows] for edge in edges]
    corners = list(product((Fraction(1, 2), Fraction(-1, 2)), repeat=2))
    folds = [naive_fold(edges, row, down).logits for row in rows]
    moved = [[Fold((a + x, b + y)).decision for x, y in corners] for a, b in folds]
    return [
        all(decision == {answer} for decision, answer in zip(found, answers, strict=True)),
        all(found[a] == found[b] and len(found[a]) == 1 for a, b in pairs),
        all(any(len(d) == 1 and d != e for d, e in zip(found, lesion, strict=True)) for lesion in lesions),
        all(len(d) == 1 and all(e == d for e in after) for d, after in zip(found, moved, strict=True)),
        found == whole,
    ]


@given(
    edges=st.sampled_from([ADDED, DIRECT, THROUGH_MLP]),
    rows=token_rows,
    down=matrices,
    drawn=st.none() | st.tuples(answer_rows, class_rows),
)
def test_every_verdict_is_what_the_definition_says(edges, rows, down, drawn):
    """The slow twin of the battery on small integers; answers are drawn, or what the circuit decides."""
    decided = [min(naive_fold(edges, row, down).decision) for row in rows]
    answers, classes = drawn or (decided, decided)
    task = table_task(dict(zip(TOKENS, answers, strict=True)), classes)
    weights = {"embed.token": rows, "mlp.0.down.weight": down}
    battery = prove(adder_claim(*ALL, weights=weights, edges=edges, task=task))
    expected = naive_verdicts(edges, rows, down, answers, classes)
    assert [answer.verdict is Verdict.PROVED for answer in battery.answers] == expected


def test_vacuity_is_visible():
    """How many computations decide the domain, and how many prompts tie."""
    task = table_task(dict.fromkeys(product(range(5), repeat=2), 0))
    battery = prove(adder_claim(Equivalence(), task=task))
    assert battery.cells == 5
    assert battery.ties == 5


NORMED = replace(PLAIN, norm=LayerNorm(Fraction(1, 1000)))
SOFT = replace(PLAIN, attention=Attention.SOFTMAX)
SMOOTH = replace(PLAIN, activation=Gelu(GeluForm.TANH))
HEADED = ("embed -> head 0.0", "head 0.0 -> logits")


@pytest.mark.parametrize(
    ("sizes", "edges", "sentence"),
    [
        (NORMED, DIRECT, "LayerNorm has no exact value"),
        (SOFT, HEADED, "softmax attention has no exact value"),
        (SMOOTH, THROUGH_MLP, "GELU has no exact value"),
    ],
)
def test_an_operator_without_an_exact_value_is_refused_where_it_is_used(sizes, edges, sentence):
    """A number near it would prove something near the claim."""
    with pytest.raises(NotExactError, match=sentence):
        prove(adder_claim(Equivalence(), sizes=sizes, edges=edges))


@pytest.mark.parametrize(("sizes", "edges"), [(SOFT, THROUGH_MLP), (SMOOTH, DIRECT)])
def test_an_operator_that_the_circuit_does_not_use_does_not_matter(sizes, edges):
    """Faithfulness asks for the whole model, which is not exact: that is said, and nothing else is lost."""
    _, faithful = prove(adder_claim(Equivalence(), Faithfulness(), sizes=sizes, edges=edges)).answers
    assert faithful.verdict is Verdict.UNDECIDED
    assert "which has no exact value: this can only be measured" in faithful.outcome.evidence.reason


def test_a_softmax_model_is_exact_where_its_kept_heads_are_programs():
    """The scores are never computed."""
    model = build(
        {**ADDER, "head.0.0.value.weight": IDENTITY, "head.0.0.output.weight": IDENTITY},
        SOFT,
        {Head(0, 0): parse("default 0\nadd 1 when key_position == 0\notherwise self")},
    )
    claim = Claim(freeze(model), circuit_of(HEADED), table_task({(3, 1): 0, (0, 4): 0}), (Equivalence(),))
    assert [found.logits for found in prove(claim).folded.of(claim.circuit)] == [(4, 1), (2, 1)]


def test_answers_stand_in_the_order_of_the_claim():
    """The certificate pairs them by place."""
    properties = ALL[::-1]
    battery = prove(adder_claim(*properties))
    assert tuple(answer.prop for answer in battery.answers) == properties
