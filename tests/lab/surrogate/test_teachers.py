from dataclasses import replace

import pytest
import torch

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Graph
from circuitproof.errors import DeclarationError, InputError
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.records.surrogate import Basis
from circuitproof_lab.surrogate import teachers
from circuitproof_lab.surrogate.teachers import Rendering, TeacherQuestion, circuit_relation, plain_rendering
from circuitproof_lab.surrogate.words import Words
from floats import agree
from hand_models import ADDED, ADDER, DIRECT, PLAIN, build, circuit_of
from models import random_model, tiny_architecture

ZERO_ONE = Alphabet(("zero", "one"))
LAST = TeacherQuestion("adder", Words(Alphabet(("low", "high")), 1, 2), ZERO_ONE)
"""The adder looks at the last token only: 1 and 3 give 0, 0 and 2 give 1, and 4 is a tie."""
ALIKE = Rendering((), ((1, 3), (0, 2)), (), (0, 1))


@pytest.fixture
def adder(tmp_path):
    """Return the directory of the hand-made adder."""
    save_model(tmp_path / "model", StoredModel(build(ADDER), None))
    return tmp_path / "model"


def test_a_token_may_stand_for_several_of_the_model_that_are_decided_alike(adder):
    """Every prompt of every word was run, in exact arithmetic."""
    found = circuit_relation(adder, None, LAST, ALIKE)
    assert found.basis is Basis.EXACT
    assert [found.answer(word) for word in LAST.words] == [word[-1] for word in LAST.words]


def test_a_circuit_teaches_what_it_decides_itself(adder):
    """Without the MLP, token 0 is decided the other way."""
    only_zero = Rendering((), ((1,), (0,)), (), (0, 1))
    kept = circuit_relation(adder, circuit_of(ADDED), LAST, only_zero)
    direct = circuit_relation(adder, circuit_of(DIRECT), LAST, only_zero)
    assert kept.decided == (0, 1, 0, 1, 0, 1)
    assert set(direct.decided) == {0}


def test_what_stands_before_and_after_a_word_is_part_of_the_prompt(adder):
    """With a token of its own at the end, the adder looks at that one."""
    short = TeacherQuestion("adder", Words(LAST.words.tokens, 1, 1), ZERO_ONE)
    found = circuit_relation(adder, None, short, replace(ALIKE, before=(4,), after=(0,)))
    assert set(found.decided) == {1}


@pytest.mark.parametrize(
    ("rendering", "sentence"),
    [
        (
            replace(ALIKE, members=((1,), (0, 3))),
            "gives input 'high' two answers, 'zero' and 'one': its 2 prompts are not decided alike;",
        ),
        (replace(ALIKE, members=((1,), (4,))), "gives input 'high' two answers, 'zero' and 'one': a tie"),
        (replace(ALIKE, after=(0, 0)), "prompt 4 has 4 tokens, the model's context is 3"),
        (replace(ALIKE, members=((1,), (7,))), "prompt 1 has token 7, the model's vocabulary is 5"),
        (replace(ALIKE, answers=(0, 9)), "an answer is token 9, the model's vocabulary is 5"),
    ],
)
def test_a_teacher_without_one_answer_to_each_input_is_refused(adder, rendering, sentence):
    """Two answers to one input, or a prompt that the model cannot read."""
    with pytest.raises(InputError, match=sentence):
        circuit_relation(adder, None, LAST, rendering)


def test_a_circuit_of_another_model_is_refused(adder):
    """Its edges mean something else there."""
    with pytest.raises(InputError, match="they do not belong together"):
        circuit_relation(adder, whole(Graph(2, 2)), LAST, ALIKE)


def test_too_many_prompts_are_refused_before_they_are_run(adder, monkeypatch):
    """A large class in a long word is a large number."""
    monkeypatch.setattr(teachers, "MOST_LISTED", 19)
    with pytest.raises(InputError, match="the words stand for 20 prompts, want at most 19"):
        circuit_relation(adder, None, LAST, ALIKE)


@pytest.mark.parametrize(
    ("members", "answers", "sentence"),
    [(((1,), ()), (0, 1), "stands for none"), (((1,), (0,)), (1, 1), "two answers are the same token")],
)
def test_a_rendering_that_contradicts_itself_is_refused(members, answers, sentence):
    """Holding one is proof that it can be used."""
    with pytest.raises(DeclarationError, match=sentence):
        Rendering((), members, (), answers)


def test_a_teacher_without_exact_values_is_measured_and_says_so(tmp_path):
    """Softmax has none; the adder's head adds nothing, so the decisions are the same."""
    sizes = replace(PLAIN, attention=Attention.SOFTMAX)
    save_model(tmp_path / "model", StoredModel(build(ADDER, sizes), None))
    found = circuit_relation(tmp_path / "model", None, LAST, ALIKE)
    assert found.basis is Basis.MEASURED
    assert [found.answer(word) for word in LAST.words] == [word[-1] for word in LAST.words]
    with pytest.raises(InputError, match="a tie"):
        circuit_relation(tmp_path / "model", None, LAST, replace(ALIKE, members=((1,), (4,))))


def test_the_exact_decisions_are_those_of_torch(tmp_path):
    """On a random model whose margins are larger than what FP64 can confuse."""
    model = random_model(tiny_architecture(), seed=3)
    names = Alphabet(tuple("abcdefg"))
    save_model(tmp_path / "model", StoredModel(model, names))
    question = TeacherQuestion("random", Words(Alphabet(("a", "c", "e")), 1, 3), Alphabet(("b", "g")))
    found = circuit_relation(tmp_path / "model", None, question, plain_rendering(question, names))
    for word in question.words:
        prompt = torch.tensor([[names.token(question.words.tokens.names[token]) for token in word]])
        logits = model.double()(prompt)[0, -1, [1, 6]]
        assert not agree(logits[0], logits[1])
        assert found.answer(word) == int(logits.argmax())
    assert len(set(found.decided)) == 2


def test_a_plain_rendering_needs_the_same_names():
    """A token that the model does not have is an alphabet mismatch."""
    with pytest.raises(DeclarationError, match="'low' is not a token of this alphabet"):
        plain_rendering(LAST, Alphabet(("zero", "one")))
