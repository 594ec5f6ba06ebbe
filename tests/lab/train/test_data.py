from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.nn.decisions import score_circuits
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from circuitproof_lab.train.corpus import DocumentUse
from circuitproof_lab.train.data import CorpusData, Data, TaskData
from circuitproof_lab.train.windows import NO_TARGET, Batch, Windows
from corpora import corpus_data
from floats import agree
from models import random_model, random_tokens, tiny_architecture

TASKS = (toy_quotes(), toy_brackets())
LETTERS = Alphabet(tuple("ABCDEFG"))
UNEVEN = Task(
    "uneven",
    LETTERS,
    candidates=(5, 6),
    domain=Domain(((1,), (2, 3), (4, 1, 2, 3, 4), (3, 3, 3)), ("only",) * 4),
    answer=AnswerTable((5, 6, 5, 6)),
    relation=ClassTable((0, 1, 2, 3)),
)
"""A task whose prompts have four lengths."""

seeds = st.integers(0, 2**32 - 1)
steps = st.integers(0, 10**6)


def text_data(seed: int = 0, length: int = 200, window: int = 4) -> CorpusData:
    """Return windows of the text 0, 1, 2, ..., so that a token says where it stood."""
    return corpus_data(torch.arange(length), window, 8, seed)


def content(batch: Batch) -> list[object]:
    """Return a batch as plain lists, to be compared."""
    return [batch.tokens.tolist(), batch.targets.tolist()]


def makers():
    """Return what makes data from a seed, for both kinds."""
    return [lambda seed: TaskData(TASKS, 16, seed), text_data]


@pytest.mark.parametrize("make", makers(), ids=["tasks", "text"])
@given(seed=seeds, step=steps, before=st.lists(steps, max_size=3))
def test_a_batch_depends_on_nothing_but_seed_and_step(make, seed, step, before):
    """A resumed run asks for step 700 first and must get what the first run got."""
    data = make(seed)
    for earlier in before:
        data.batch(earlier)
    assert content(data.batch(step)) == content(make(seed).batch(step))


@pytest.mark.parametrize("make", makers(), ids=["tasks", "text"])
@given(seed=seeds, other=seeds)
def test_another_seed_gives_other_batches(make, seed, other):
    """A seed that changed only the initial weights would make runs look more alike than they are."""
    same = [content(make(seed).batch(step)) for step in range(3)] == [
        content(make(other).batch(step)) for step in range(3)
    ]
    assert same == (seed == other)


@pytest.mark.parametrize("make", makers(), ids=["tasks", "text"])
def test_batches_change_from_step_to_step(make):
    """Also from one epoch to the next: 256 prompts in batches of 16 are 16 steps."""
    batches = [str(content(make(3).batch(step))) for step in range(64)]
    assert len(set(batches)) == 64


@pytest.mark.parametrize("make", makers(), ids=["tasks", "text"])
def test_models_are_compared_on_the_same_batch_whatever_the_seed(make):
    """What two runs report of their models is then about the same prompts."""
    assert content(make(1).fixed_batch()) == content(make(2).fixed_batch())


def test_models_are_compared_on_every_prompt_and_on_held_out_text():
    """No prompt of a domain is left out, and no window of a text was trained on."""
    assert len(TaskData(TASKS, 16, 0).fixed_batch().tokens) == 256
    windows = text_data().fixed_batch()
    assert torch.equal(windows.tokens + 1, windows.targets)


@pytest.mark.parametrize("make", makers(), ids=["tasks", "text"])
def test_both_kinds_are_what_the_loop_asks_for(make):
    """The loop knows only this protocol."""
    assert isinstance(make(0), Data)


@given(seed=seeds, size=st.integers(1, 300), epoch=st.integers(0, 3))
def test_an_epoch_shows_no_prompt_twice(seed, size, epoch):
    """And misses fewer prompts than make a batch."""
    data = TaskData(TASKS, size, seed)
    size = min(size, 256)
    count = 256 // size
    rows = [
        tuple(row)
        for step in range(epoch * count, (epoch + 1) * count)
        for row in data.batch(step).tokens.tolist()
    ]
    assert len(set(rows)) == len(rows) == count * size > 256 - size


def test_the_answer_is_wanted_after_the_last_token_and_nothing_elsewhere():
    """The decision is read at the last position; asking elsewhere would train another task."""
    batch = TaskData(TASKS, 256, 0).batch(0)
    wanted = {
        prompt: answer
        for task in TASKS
        for prompt, answer in zip(task.domain.prompts, task.answers(), strict=True)
    }
    found = dict(zip(map(tuple, batch.tokens.tolist()), batch.targets[:, -1].tolist(), strict=True))
    assert found == wanted
    assert (batch.targets[:, :-1] == NO_TARGET).all()


def test_prompts_of_different_lengths_stand_in_one_batch():
    """Shorter ones are padded on the right, with the answer still after their own last token."""
    batch = TaskData([UNEVEN], 4, 0).batch(0)
    rows = {
        tuple(tokens): targets
        for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True)
    }
    none = NO_TARGET
    assert rows == {
        (1, 0, 0, 0, 0): [5, none, none, none, none],
        (2, 3, 0, 0, 0): [none, 6, none, none, none],
        (4, 1, 2, 3, 4): [none, none, none, none, 5],
        (3, 3, 3, 0, 0): [none, none, 6, none, none],
    }


@given(length=st.integers(1, 4), seed=st.integers(0, 5))
def test_padding_on_the_right_changes_nothing_at_the_last_token(length, seed):
    """That is why padding needs no mask; only the order of float sums may differ."""
    architecture = tiny_architecture()
    model, tokens = random_model(architecture, seed).double(), random_tokens(architecture, seed=seed)
    assert agree(model(tokens)[:, length - 1], model(tokens[:, :length])[:, -1])


def test_tasks_of_different_alphabets_are_not_trained_together():
    """Token 5 would mean two things in one batch."""
    with pytest.raises(InputError, match="tasks of different alphabets cannot be trained together"):
        TaskData([TASKS[0], UNEVEN], 4, 0)


def test_task_data_knows_the_names_of_its_tokens():
    """They are stored with the trained model."""
    assert TaskData([UNEVEN], 4, 0).alphabet == LETTERS
    assert text_data().alphabet is None


def test_evaluation_names_accuracy_and_worst_margin_of_each_task():
    """The numbers are those of the decisions module, not a second computation."""
    model = random_model(tiny_architecture())
    other = replace(UNEVEN, name="other", answer=AnswerTable((6, 6, 6, 6)))
    measures = TaskData([UNEVEN, other], 4, 0).evaluate(model)
    for task in (UNEVEN, other):
        (score,) = score_circuits(model, task)
        assert measures.pop(f"{task.name} accuracy") == score.right / 4
        assert measures.pop(f"{task.name} worst margin") == score.worst_margin
    assert measures == {}


@given(step=steps)
def test_a_window_is_a_piece_of_the_text_and_wants_every_next_token(step):
    """Off by one here teaches a model to copy its input."""
    batch = text_data().batch(step)
    assert batch.tokens.shape == (8, 4)
    assert (batch.tokens.diff(dim=1) == 1).all()
    assert (batch.targets == batch.tokens + 1).all()


def test_training_windows_reach_every_token_of_their_part_and_no_other():
    """What is measured at the end was never shown."""
    parts = {part: np.arange(100 * place, 100 * place + 100) for place, part in enumerate(DocumentUse)}
    data = CorpusData(parts, 4, 8, 0)
    batches = [data.batch(step) for step in range(200)]
    seen = {token for batch in batches for row in content(batch) for line in row for token in line}
    assert seen == set(range(100))
    assert set(data.fixed_batch().tokens.flatten().tolist()) <= set(range(100, 200))


def test_the_shortest_text_has_one_window():
    """One token less is refused with a sentence that gives the count."""
    assert text_data(length=5).batch(0).tokens.tolist() == [[0, 1, 2, 3]] * 8
    with pytest.raises(InputError, match="the train part has 4 tokens, too few for a window of 4; give it"):
        text_data(length=4)


@pytest.mark.parametrize("length", [14, 60, 5000])
def test_a_model_that_knows_nothing_pays_log_of_the_vocabulary(length):
    """Zero weights give every token the same chance, on any number of windows."""
    model, data = Transformer(tiny_architecture()).double(), corpus_data(torch.arange(length) % 7, 5, 32, 0)
    for measures in (data.evaluate(model), data.measure_whole(model)):
        for kind, value in measures.items():
            assert agree(value, log(7) if kind.endswith("loss") else 7.0)
    assert list(data.evaluate(model)) == [
        "development loss",
        "development perplexity",
        "second loss",
        "second perplexity",
    ]


def test_what_tasks_measure_of_a_trained_model_is_what_it_does_on_each_prompt():
    """The mean loss, and the root mean square of what the logits are read from, prompt by prompt."""
    model, data = random_model(tiny_architecture()).double(), TaskData((UNEVEN,), 64, 1)
    found = data.measure_whole(model)
    answers = zip(UNEVEN.prompts, UNEVEN.answers(), strict=True)
    rows = [(torch.tensor([prompt]), answer) for prompt, answer in answers]
    losses = [-model(prompt)[0, -1].log_softmax(-1)[answer].item() for prompt, answer in rows]
    ends = torch.cat([model.final_residual(prompt) for prompt, _ in rows])
    assert agree(found["loss"], sum(losses) / len(losses))
    assert agree(found["final residual"], ends.square().mean().sqrt().item())
    assert found["uneven accuracy"] == data.evaluate(model)["uneven accuracy"]


def test_evaluation_reaches_the_end_of_a_very_long_text_and_not_beyond():
    """The last start is 2^24 + 3, which single precision would round up, past the end."""
    tokens = np.broadcast_to(np.zeros(1, np.int64), (2**24 + 8,))
    measures = corpus_data(tokens, 4, 1, 0).evaluate(Transformer(tiny_architecture()).double())
    assert agree(measures["development loss"], log(7))


def test_whole_measures_share_no_target():
    """Windows that overlapped would count a token twice."""
    assert [Windows(np.arange(length), 4, "any").apart for length in (5, 8, 9, 12, 13)] == [1, 1, 2, 2, 3]


@given(count=st.integers(1, 12))
def test_the_pieces_of_a_batch_are_its_rows(count):
    """However a batch is divided, nothing is left out and nothing comes twice."""
    batch = text_data().batch(3)
    pieces = batch.pieces(count)
    assert len(pieces) <= count
    assert [row for piece in pieces for row in piece.tokens.tolist()] == batch.tokens.tolist()
    assert sum(piece.asked for piece in pieces) == batch.asked == 8 * 4
