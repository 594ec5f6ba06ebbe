from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import empty
from circuitproof.circuits.graph import Head, Mlp
from circuitproof.errors import DeclarationError, InputError
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove, remarks
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Open
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.remarks import Plain, RemarkContext, SharedBias
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from hand_models import IDENTITY, PLAIN, build, circuit_of, freeze
from models import random_model
from pattern_claims import PROPERTIES, SIZES, random_claim, task_of, truth, truths
from pattern_strategies import all_prompts

SEEDS = range(24)


def test_answers_are_what_looking_at_every_prompt_says():
    """Proved means proved and refuted means refuted; nearly all is decided with few prompts one by one."""
    verdicts = Counter()
    for seed in SEEDS:
        claim = random_claim(seed)
        answers = prove(claim, Effort(listed=64)).answers
        for answer, is_true in zip(answers, truths(claim, claim.properties), strict=True):
            verdicts[answer.verdict] += 1
            if answer.verdict is not Verdict.UNDECIDED:
                assert (answer.verdict is Verdict.PROVED) == is_true, (seed, answer.prop)
    assert verdicts[Verdict.UNDECIDED] <= verdicts.total() // 20
    assert min(verdicts[Verdict.PROVED], verdicts[Verdict.REFUTED]) > 25


@pytest.mark.parametrize("kind", [{"rotary": 2}, {"parallel": True}], ids=str)
def test_answers_on_rotary_and_parallel_models_are_what_every_prompt_says(kind):
    """A rotated position is no part of what a token hands on, and an MLP may read beside the heads."""
    sizes, verdicts = replace(SIZES, **kind), Counter()
    for seed in SEEDS[:6]:
        claim = random_claim(seed, sizes=sizes)
        answers = prove(claim, Effort(listed=64)).answers
        for answer, is_true in zip(answers, truths(claim, claim.properties), strict=True):
            verdicts[answer.verdict] += 1
            if answer.verdict is not Verdict.UNDECIDED:
                assert (answer.verdict is Verdict.PROVED) == is_true, (seed, answer.prop)
    assert verdicts[Verdict.UNDECIDED] <= verdicts.total() // 4


def test_much_is_decided_without_looking_at_any_prompt_by_itself():
    """By minima over cells; what is not names a node or what is decided differently."""
    decided, reasons = 0, []
    for seed in SEEDS[:16]:
        for answer in prove(random_claim(seed), Effort(listed=0)).answers:
            decided += answer.verdict is not Verdict.UNDECIDED
            reasons += [answer.evidence.reason] if isinstance(answer.evidence, Open) else []
    assert decided >= 0.7 * 16 * len(PROPERTIES)
    assert all("head" in reason or "mlp" in reason or "differently" in reason for reason in reasons)


def claim_of(edges, *properties, sizes=SIZES, text="any{1..3} with exactly 1 of [0, 1]", programs=None):
    """Return a claim about a random model."""
    frozen = freeze(random_model(sizes, 3, programs or {}))
    return Claim(frozen, circuit_of(edges, layers=2, heads=2), task_of(text), properties)


def test_a_neural_head_over_many_prompts_is_undecided_and_named():
    """Its row depends on every token, so there are too many choices to look at."""
    edges = ("embed -> head 0.1", "head 0.1 -> logits")
    (answer,) = prove(claim_of(edges, Equivalence()), Effort(listed=5)).answers
    assert answer.verdict is Verdict.UNDECIDED
    assert "head 0.1 is neural" in answer.evidence.reason
    assert "more than 5 choices of tokens" in answer.evidence.reason


def test_robustness_elsewhere_or_behind_a_norm_is_undecided():
    """Over a pattern only the final residual is perturbed, and only where no norm follows."""
    inside = Robustness(Fraction(1, 10), Interface(Mlp(0), Side.OUTPUT))
    edges = ("embed -> mlp 0", "mlp 0 -> logits")
    sizes = replace(SIZES, norm=BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS))
    for claim in (claim_of(edges, inside), claim_of(edges, Robustness(Fraction(1)), sizes=sizes)):
        (answer,) = prove(claim).answers
        assert answer.verdict is Verdict.UNDECIDED
        assert "only a final residual that passes no norm" in answer.evidence.reason


def test_norms_are_decided_where_few_prompts_matter():
    """The circuit reads the last token only."""
    sizes = replace(SIZES, norm=BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS))
    claim = claim_of(("embed -> mlp 0", "mlp 0 -> logits"), Equivalence(), sizes=sizes)
    (answer,) = prove(claim).answers
    assert (answer.verdict is Verdict.PROVED) == truth(claim, Equivalence())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"edges": ("mlp 0 -> logits",)},
            "may attend nowhere reaches logits",
        ),
        ({"text": "any{6} with exactly 1 of [0, 1]"}, "the model's context is 5; add 'up to 5 tokens'"),
        ({"properties": ()}, "one or more distinct properties, got none"),
        ({"layers": 3}, "the circuit is of 3 layers of 2 heads"),
        ({"vocabulary": 9}, "has a vocabulary of 9 tokens, the model of 6"),
    ],
)
def test_parts_that_do_not_fit_are_refused(options, sentence):
    """Holding a claim is proof that its parts fit together."""
    edges, text = (
        options.get("edges", ("embed -> logits",)),
        options.get("text", "any with exactly 1 of [0, 1]"),
    )
    circuit = circuit_of(edges, layers=options.get("layers", 2), heads=2)
    task = task_of(text, vocabulary=options.get("vocabulary", 6))
    frozen = freeze(random_model(SIZES, 3))
    with pytest.raises(InputError, match=sentence):
        Claim(frozen, circuit, task, options.get("properties", (Equivalence(),)))


def test_all_prompts_of_a_pattern_are_one_obligation():
    """But each edge that is to be needed is one of its own; every property has an answer."""
    for seed in SEEDS[:8]:
        battery = prove(random_claim(seed), Effort(listed=64))
        counts = [answer.obligations for answer in battery.answers]
        assert counts == [1, 1, len(battery.claim.circuit), 1]
        with pytest.raises(DeclarationError, match="3 answers do not match the 4 properties"):
            _ = replace(battery, answers=battery.answers[:3]).verdict


def test_the_least_radius_is_that_of_the_worst_margin():
    """Margin over the distance of the rows of the output embedding."""
    edges = ("embed -> logits",)
    claim = claim_of(edges, Robustness(Fraction(1, 10**9)), text="any{2} with exactly 1 of [0, 1]")
    (answer,) = prove(claim).answers
    if answer.verdict is Verdict.PROVED:
        rows = claim.frozen.unembedding((0, 1)).fractions()
        apart = sum(abs(a - b) for a, b in zip(*rows, strict=True))
        assert answer.findings.survey.radius == answer.findings.survey.margin / apart


def listed(claim, prompts):
    """Return the claim that the edges of the same circuit are needed at some prompts."""
    task = Task(
        name="some",
        alphabet=Alphabet(tuple("abcdef")),
        candidates=claim.task.candidates,
        domain=Domain(prompts, ("all",) * len(prompts)),
        answer=AnswerTable(tuple(claim.task.labelled.label_of(prompt).answer for prompt in prompts)),
        relation=ClassTable((0,) * len(prompts)),
    )
    return Claim(claim.frozen, claim.circuit, task, (Necessity(),))


def slow_biases(battery):
    """Return the edges with the effect of a shared bias alone, asked as a list of the prompts shown."""
    (answer,) = prove(listed(battery.claim, battery.shown.prompts)).answers
    return tuple(found.edge for found in answer.findings.edges if found.only_bias)


def test_remarks_are_what_looking_at_every_prompt_says():
    """Answers, classes and decisions from all prompts, biases from a list of those that are shown."""
    said = Counter()
    for seed in SEEDS:
        claim = random_claim(seed)
        battery = prove(claim, Effort(listed=64))
        asked, prompts = {}, list(all_prompts(claim.task.labelled.machine))
        for label in map(claim.task.labelled.label_of, prompts):
            asked.setdefault(label.group, set()).add(label.answer)
        none = empty(claim.frozen.graph)
        folded = fold(claim.frozen, claim.task.candidates, [claim.circuit, none], prompts)
        decided = [found.decision for found in folded.of(claim.circuit)]
        is_equivalent = battery.answers[0].verdict is Verdict.PROVED
        for answer in battery.answers:
            context = RemarkContext(
                asked,
                claim.circuit,
                claim.frozen.programs,
                is_equivalent,
                has_single_classes=len(asked) == len(prompts),
                unedged=(folded.of(none)[0].decision,),
            )
            proved = answer.verdict is Verdict.PROVED
            assert answer.remarks == (remarks(answer.prop, battery, context, decided) if proved else ())
            if proved and answer.prop == Necessity():
                biases = [remark.edge for remark in answer.remarks if isinstance(remark, SharedBias)]
                assert biases == list(slow_biases(battery))
            said.update(
                type(remark) if isinstance(remark, SharedBias) else remark for remark in answer.remarks
            )
    assert {Plain.IMPLIED, Plain.CONSTANT} <= set(said)


BIASED = replace(PLAIN, vocabulary=6, biases=True)


def test_a_witness_that_shows_a_shared_bias_alone_is_remarked():
    """The head hands on nothing; without its edge the reader loses the bias that speaks for token 1."""
    weights = {
        "embed.token": [[2, 1.5], [2, 1.5], [7, 0], [0, 0], [0, 0], [0, 0]],
        "logits.weight": [[1, 0], [0, 1], *[[0, 0]] * 4],
        "attention.0.output.bias": [0, 1],
    }
    frozen = freeze(build(weights, BIASED, {Head(0, 0): parse("default 1\notherwise self")}))
    circuit = circuit_of(("embed -> logits", "head 0.0 -> logits"))
    claim = Claim(frozen, circuit, task_of("[0, 1] 2{0..1}"), (Necessity(),))
    (answer,) = prove(claim).answers
    assert answer.verdict is Verdict.PROVED
    assert [str(remark) for remark in answer.remarks] == [
        "shared bias: head 0.0 -> logits",
        "constant source: head 0.0 -> logits",
    ]


def test_an_example_of_another_label_shows_more_than_a_bias():
    """Without the edge all tie; with the bias kept all are decided 0, and only opener 1 shows that."""
    weights = {
        "embed.token": [[3, 0], [0, 3], *[[0, 0]] * 4],
        "head.0.0.value.weight": IDENTITY,
        "head.0.0.output.weight": IDENTITY,
        "logits.weight": [*IDENTITY, *[[0, 0]] * 4],
        "attention.0.output.bias": [1, 0],
    }
    copies = parse("default 0\nadd 1 when key_token in {0, 1}\notherwise self")
    claim = Claim(
        freeze(build(weights, BIASED, {Head(0, 0): copies})),
        circuit_of(("embed -> head 0.0", "head 0.0 -> logits")),
        task_of("any{1..2} with exactly 1 of [0, 1]"),
        (Equivalence(), Necessity()),
    )
    answer = prove(claim).answers[1]
    assert answer.remarks == (Plain.IMPLIED,)
