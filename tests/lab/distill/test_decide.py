import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.find.choices import Objective
from circuitproof.programs.candidates import Grammar, NamedOperand
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.syntax import Otherwise
from circuitproof.proof.fold import fold
from circuitproof_lab.distill.decide import Decider, with_program
from circuitproof_lab.distill.decision_target import targets_of
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.synthesise import accepts
from hand_models import circuit_of, freeze, table_task
from models import PROGRAMS, random_model, tiny_architecture

PROMPTS = ((0, 4, 4), (4,), (0, 4))
TASKS = [
    table_task(dict.fromkeys(PROMPTS, 1), candidates=(1, 2, 3)),
    table_task({(4, 0, 4): 0, (4, 4, 4, 4): 1}),
]
CHAIN = circuit_of(
    ["embed -> head 0.1", "head 0.1 -> mlp 0", "mlp 0 -> head 1.0", "head 1.0 -> logits"], layers=2, heads=2
)
GRAMMAR = Grammar(
    rules=2, features=(Feature.KEY_TOKEN, Feature.RELATIVE_DISTANCE), otherwise=tuple(Otherwise)
)
WORDS = (NamedOperand(WordKind.TOKEN, 4), NamedOperand(WordKind.DISTANCE, 1))


def setting(seed, head, programs):
    """Return a random model, targets of whole and circuit on two tasks, and every small program's meaning."""
    frozen = freeze(random_model(tiny_architecture(), seed=seed, programs=programs))
    asked = [[whole(frozen.graph), CHAIN], [whole(frozen.graph)]]
    prefix_table = PrefixTable(tuple(prompt for task in TASKS for prompt in task.domain.prompts))
    meanings = Meanings(prefix_table, GRAMMAR, prefix_table.own())
    meanings.learn(WORDS)
    meanings.grow()
    targets = targets_of(frozen, TASKS, asked, Objective.MODEL)
    return frozen, targets, meanings, Decider(frozen, head, targets, prefix_table)


@pytest.mark.parametrize(
    ("head", "installed", "seed"),
    [
        (Head(0, 0), (), 3),
        (Head(0, 1), (Head(1, 0),), 6),
        (Head(1, 0), (Head(0, 1),), 6),
        (Head(1, 1), (), 3),
    ],
)
def test_many_candidates_are_decided_as_each_of_them_alone(head, installed, seed):
    """The twin installs one program, folds every prompt and looks; each refutation holds there."""
    programs = {one: PROGRAMS[one] for one in installed}
    frozen, targets, meanings, decider = setting(seed, head, programs)
    found = decider.refute(meanings.rows(range(len(meanings))))
    assert {one is None for one in found} == {True, False}
    for place, one in enumerate(found):
        program = meanings.program(place)
        assert accepts(frozen, head, program, targets) == (one is None)
        if one is not None:
            target = targets[one.target]
            circuit, prompt = target.circuits[one.circuit], target.task.domain.prompts[one.prompt]
            alone = fold(with_program(frozen, head, program), target.task.candidates, [circuit], [prompt])
            assert alone.of(circuit)[0].decision != frozenset({target.wanted[one.prompt]})


def test_a_screen_refutes_less_and_never_something_else():
    """With few prompts some candidates are left over; what is refuted stays refuted."""
    _, _, meanings, decider = setting(3, Head(0, 0), {})
    rows = meanings.rows(range(len(meanings)))
    screened = decider.refute(rows, 1)
    refuted = decider.refute(rows)
    assert sum(one is None for one in screened) >= sum(one is None for one in refuted)
    assert all(found is not None for one, found in zip(screened, refuted, strict=True) if one is not None)


def test_decisions_are_computed_once():
    """Candidates with the same rows at the queries that are read share them, now and later."""
    _, targets, meanings, decider = setting(3, Head(1, 1), {})
    rows = meanings.rows(range(len(meanings)))
    accepted = [place for place, one in enumerate(decider.refute(rows)) if one is None]
    assert accepted
    known = decider.decisions
    decider.refute(rows[accepted])
    assert decider.decisions == known
    pairs = sum(len(target.circuits) * len(target.wanted) for target in targets)
    assert known < pairs * len(meanings)


@pytest.mark.parametrize(("head", "count"), [(Head(0, 0), 3), (Head(1, 0), 1)])
def test_the_queries_that_are_read_follow_from_the_circuits(head, count):
    """Of a head in the last layer only the deciding one; of an earlier head all of them."""
    _, _, _, decider = setting(3, head, {})
    prompt = PROMPTS.index((0, 4, 4))
    assert decider.read_queries(0, prompt) == [(0, 4, 4)[:length] for length in range(4 - count, 4)]


def test_a_head_that_no_circuit_reads_cannot_be_refuted_or_helped():
    """Its candidates are all one variant without rows."""
    frozen = freeze(random_model(tiny_architecture(), seed=3))
    task, prefix_table = TASKS[1], PrefixTable(TASKS[1].domain.prompts)
    targets = targets_of(
        frozen, [task], [[circuit_of(["embed -> logits"], layers=2, heads=2)]], Objective.PROGRAM
    )
    decider = Decider(frozen, Head(0, 0), targets, prefix_table)
    found = decider.refute(prefix_table.own()[None].repeat(3, 0))
    assert decider.read_queries(0, 0) == []
    assert len(set(found)) == 1
    assert decider.decisions <= len(task.domain)
