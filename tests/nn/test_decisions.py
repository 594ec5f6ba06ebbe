from dataclasses import replace

import pytest
import torch

from circuitproof.circuits.circuit import empty, whole
from circuitproof.errors import InputError, NumericError
from circuitproof.nn import decisions
from circuitproof.nn.decisions import (
    Score,
    answer_margins,
    score_circuits,
    task_logits,
)
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from floats import agree
from models import NORMS, random_model, tiny_architecture

TASK = Task(
    "letters",
    Alphabet(tuple("ABCDEFG")),
    candidates=(4, 6, 2),
    domain=Domain(((1,), (2, 3), (4, 1), (3, 3, 3), (0, 1, 2, 3, 4)), ("only",) * 5),
    answer=AnswerTable((6, 2, 4, 2, 6)),
    relation=ClassTable((0, 1, 2, 3, 4)),
)
"""Three candidates out of order, prompts of four lengths out of order."""


def test_logits_are_those_of_one_prompt_at_a_time():
    """The slow twin runs each prompt alone and reads the last position."""
    model = random_model(tiny_architecture()).double()
    with torch.no_grad():
        rows = [model(torch.tensor([prompt]))[0, -1, list(TASK.candidates)] for prompt in TASK.domain.prompts]
    found = task_logits(model, TASK)
    assert found.shape == (1, 5, 3)
    assert agree(found[0], torch.stack(rows))


@pytest.mark.parametrize("numbers_at_once", [1, 500, 1 << 26])
def test_circuits_are_scored_as_if_each_were_alone(monkeypatch, numbers_at_once):
    """However many fit in memory together, the scores are the same, in the order asked for."""
    monkeypatch.setattr(decisions, "_NUMBERS_AT_ONCE", numbers_at_once)
    model = random_model(tiny_architecture(norm=NORMS[1])).double()
    circuits = [empty(model.graph), *whole(model.graph).lesions()[::5], whole(model.graph)]
    found = task_logits(model, TASK, circuits)
    alone = torch.cat([task_logits(model, TASK, [circuit]) for circuit in circuits])
    assert agree(found, alone)
    assert agree(found[-1:], task_logits(model, TASK))


def test_a_margin_is_the_lead_over_the_best_other_candidate():
    """Written out by hand: right answers are candidates 1, 2, 0, 2, 1."""
    logits = torch.tensor(
        [[[0.0, 3.0, 1.0], [5.0, 0.0, 2.0], [2.0, 2.0, 1.0], [-1.0, -2.0, -0.5], [0.0, 0.0, 0.0]]]
    )
    assert answer_margins(TASK, logits).tolist() == [[2.0, -3.0, 0.0, 0.5, 0.0]]


def test_a_tie_is_not_a_right_answer():
    """A model of zeros says nothing; success is not inferred from silence."""
    model = Transformer(tiny_architecture())
    assert score_circuits(model, TASK) == (Score(right=0, prompts=5, worst_margin=0.0),)


def test_scores_count_what_leads_and_keep_the_worst_margin(monkeypatch):
    """One score per circuit, none shared."""
    logits = torch.tensor([[[0.0, 3.0, 1.0]] * 5, [[9.0, 8.0, 7.0]] * 5])
    monkeypatch.setattr(decisions, "task_logits", lambda *_: logits)
    assert score_circuits(random_model(tiny_architecture()), TASK) == (
        Score(right=2, prompts=5, worst_margin=-3.0),
        Score(right=1, prompts=5, worst_margin=-2.0),
    )


def test_accuracy_is_the_share_of_right_answers():
    """A share, between nought and one."""
    assert Score(right=3, prompts=4, worst_margin=-1.0).accuracy == 0.75


@pytest.mark.parametrize("size", [1e30, 3e38])
def test_margins_that_are_no_numbers_are_refused(size):
    """Finite weights can have infinite logits; infinity minus infinity decides nothing."""
    model = Transformer(tiny_architecture())
    with torch.no_grad():
        model.token.fill_(size)
        model.unembed.fill_(size)
    with pytest.raises(NumericError, match="NaN or infinite"):
        score_circuits(model, TASK)


def test_a_task_with_more_tokens_than_the_model_is_refused():
    """The model has no embedding for the rest."""
    larger = replace(TASK, alphabet=Alphabet(tuple("ABCDEFGH")))
    with pytest.raises(InputError, match="task 'letters' has 8 tokens, the model 7"):
        score_circuits(Transformer(tiny_architecture()), larger)


def test_a_prompt_longer_than_the_context_is_refused():
    """There is no position embedding for it."""
    longer = replace(TASK, domain=replace(TASK.domain, prompts=(*TASK.domain.prompts[:4], (1,) * 6)))
    with pytest.raises(InputError, match="a prompt has 6 tokens, the model's context is 5"):
        score_circuits(Transformer(tiny_architecture()), longer)


@pytest.mark.parametrize("alphabet", [None, TASK.alphabet])
def test_a_model_of_the_same_or_no_alphabet_may_be_asked(alphabet):
    """A model without names cannot contradict."""
    TASK.refuse_other_alphabet(alphabet)


@pytest.mark.parametrize("names", ["ABCDEF", "ABCDEGF", "ABCDEFGH"])
def test_a_model_of_another_alphabet_may_not_be_asked(names):
    """The same number would mean another letter."""
    with pytest.raises(InputError, match="the model's alphabet is not that of task 'letters'"):
        TASK.refuse_other_alphabet(Alphabet(tuple(names)))
