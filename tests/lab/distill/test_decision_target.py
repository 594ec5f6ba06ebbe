import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.errors import InputError, NotExactError
from circuitproof.find.choices import Objective
from circuitproof.models.operators import Attention
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.decision_target import targets_of
from distractor_models import distractor_model, neutral_quotes
from hand_models import ADDED, ADDER, ADDER_TASK, DIRECT, build, circuit_of, freeze, quote_model, table_task
from models import random_model, tiny_architecture

ADDER_MODEL = build(ADDER)


def test_the_right_answers_are_wanted_or_the_models_own_decisions():
    """They differ on token 3, where the answers are changed here."""
    task = table_task({(0,): 1, (3,): 1})
    asked = [[circuit_of(ADDED)]]
    (right,) = targets_of(freeze(ADDER_MODEL), [task], asked, Objective.PROGRAM)
    (own,) = targets_of(freeze(ADDER_MODEL), [task], asked, Objective.MODEL)
    assert (right.wanted, own.wanted) == ((1, 1), (1, 0))


def test_a_model_that_ties_has_no_decision_to_keep():
    """Token 4 ties; a tie is never what is wanted."""
    task = table_task({(0,): 1, (4,): 0})
    with pytest.raises(InputError, match="the model ties on prompt 1 of task 'table'"):
        targets_of(freeze(ADDER_MODEL), [task], [[circuit_of(DIRECT)]], Objective.MODEL)


def test_decisions_of_a_model_that_is_not_exact_are_refused():
    """Softmax has no exact value; the right answers may still be wanted."""
    model = random_model(tiny_architecture(attention=Attention.SOFTMAX))
    task = table_task({(0,): 1, (3,): 0})
    with pytest.raises(NotExactError, match="the model uses softmax"):
        targets_of(freeze(model), [task], [[whole(model.graph)]], Objective.MODEL)


@pytest.mark.parametrize(
    ("tasks", "asked", "sentence"),
    [
        ([], [], "0 tasks, circuits for 0 of them; want one task or more"),
        ([ADDER_TASK], [], "1 tasks, circuits for 0 of them"),
        ([ADDER_TASK], [[]], "no circuit is asked on task 'table'"),
        ([ADDER_TASK], [[circuit_of(DIRECT, heads=2)]], "the circuit is of 1 layers of 2 heads"),
        (
            [ADDER_TASK],
            [[circuit_of(["mlp 0 -> logits"])]],
            "may attend nowhere reaches logits",
        ),
    ],
)
def test_what_asks_nothing_is_refused(tasks, asked, sentence):
    """An empty target would be met by anything."""
    with pytest.raises(InputError, match=sentence):
        targets_of(freeze(ADDER_MODEL), tasks, asked, Objective.PROGRAM)


def test_a_task_keeps_its_own_circuits():
    """Two tasks, two targets, in their order."""
    model = quote_model(programs={})
    everything = whole(model.graph)
    first, second = targets_of(
        freeze(model), [toy_quotes(), neutral_quotes()], [[everything], [everything] * 2], Objective.PROGRAM
    )
    assert (len(first.circuits), len(second.circuits)) == (1, 2)
    assert (len(first.wanted), len(second.wanted)) == (128, 64)
    assert distractor_model().graph == model.graph
