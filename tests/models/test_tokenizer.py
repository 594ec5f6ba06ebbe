"""The tokenizer of a model's directory: text becomes the model's own tokens, or is refused."""

import pytest

from circuitproof.errors import InputError
from circuitproof.models.declaration import read_declaration
from circuitproof.nn.checkpoint import load_model, save_model
from circuitproof.tasks.loading import load_task, read_declared
from circuitproof.tasks.names import TokenNames
from text_models import ANSWERS, PATTERN, PROMPTS, TASK, write_text_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model directory with a tokenizer."""
    directory = tmp_path_factory.mktemp("text") / "model"
    write_text_model(directory)
    return directory


def declared(model, **keys):
    """Return a task that is written as text."""
    content = {"name": "t", "alphabet": "text", "classes": [0], **keys}
    return read_declared(content, "task", read_declaration(model).alphabet)


def test_a_task_of_texts_is_that_of_their_tokens(model, tmp_path):
    """Prompts and answers are what the tokenizer makes of them; the declaration is the same as by numbers."""
    alphabet = read_declaration(model).alphabet
    (tmp_path / "task.toml").write_text(TASK)
    task = load_task(str(tmp_path / "task.toml"), alphabet)
    assert task.prompts == tuple(map(alphabet.encode, PROMPTS))
    assert task.answers() == tuple(alphabet.encode(answer)[0] for answer in ANSWERS)
    numbers = {
        "name": "marks",
        "alphabet": list(alphabet.names),
        "prompts": [list(prompt) for prompt in task.prompts],
        "answers": list(task.answers()),
        "classes": ["single", "double", "single", "double"],
    }
    assert read_declared(numbers, "task").digest == task.digest


def test_what_is_shown_of_tokens_can_be_written_without_a_tokenizer(model):
    """Names between blanks, as pages and terminals show them."""
    alphabet = read_declaration(model).alphabet
    prompt = alphabet.encode(PROMPTS[2])
    shown = alphabet.named().text(prompt)
    assert "⏎" in shown
    content = {"name": "t", "alphabet": "model", "prompts": [shown, "if"], "answers": ["'", "x"]}
    assert read_declared({**content, "classes": [0, 1]}, "task", alphabet).prompts[0] == prompt


def test_a_pattern_takes_text_and_names_what_it_was_given(model, tmp_path):
    """In the pattern, in sets and answers; the tokens that were written as text have names in the claim."""
    alphabet = read_declaration(model).alphabet
    (tmp_path / "task.toml").write_text(PATTERN)
    task = load_task(str(tmp_path / "task.toml"), alphabet)
    (single,), (double,) = alphabet.encode(" '"), alphabet.encode(' "')
    assert task.domain.tokens() == {single, double}
    assert dict(task.answer.answers) == {single: alphabet.encode("'")[0], double: alphabet.encode('"')[0]}
    assert {alphabet.names[single], alphabet.names[double]} <= set(task.alphabet.named().values())
    other = load_task(str(tmp_path / "task.toml"), alphabet, """any{1..4} with exactly 1 of [" '", ' "']""")
    assert other.domain.longest == 4
    assert isinstance(task.alphabet.named(), TokenNames)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"prompts": ["a"], "answers": ["if x"]}, r"answers\[0\] is 'if x', which is .* tokens .*, want one"),
        ({"prompts": ["a"], "answers": [1.5]}, "want a token's number"),
        ({"prompts": [""], "answers": ["'"]}, "prompt"),
    ],
)
def test_text_that_is_not_what_is_wanted_is_refused(model, keys, sentence):
    """An answer is one token; a prompt has some."""
    with pytest.raises(InputError, match=sentence):
        declared(model, **keys)


def test_a_text_in_a_pattern_that_is_no_token_is_refused_with_its_column(model, tmp_path):
    """As every mistake in a pattern is."""
    (tmp_path / "task.toml").write_text(PATTERN)
    alphabet = read_declaration(model).alphabet
    with pytest.raises(InputError, match=r"--pattern, column 30: the token is 'if x', which is"):
        load_task(str(tmp_path / "task.toml"), alphabet, "any{1..4} with exactly 1 of ['if x']")
    with pytest.raises(InputError, match=r"want a token's number or one of the"):
        load_task(str(tmp_path / "task.toml"), None)


def test_a_model_without_a_tokenizer_reads_no_text(tmp_path):
    """The sentence says where to put one."""
    bare = tmp_path / "model"
    write_text_model(bare, is_bare=True)
    with pytest.raises(InputError, match=r"the model comes without a tokenizer; put its tokenizer\.json"):
        declared(bare, prompts=["a"], answers=["'"])


def test_the_tokenizer_of_another_model_is_refused(tmp_path):
    """Its numbers would be other tokens here."""
    other = tmp_path / "model"
    tokenizer = write_text_model(other)
    name = tokenizer.alphabet.names[tokenizer.encode("x")[0]]
    content = (other / "model.json").read_text()
    assert f'"{name}"' in content
    (other / "model.json").write_text(content.replace(f'"{name}"', '"someone else\'s"', 1))
    with pytest.raises(InputError, match=r"its tokenizer calls token \d+ 'x', its model \"someone else's\""):
        declared(other, prompts=["x"], answers=["'"])


def test_a_model_that_is_made_from_another_keeps_its_tokenizer(model, tmp_path):
    """Whatever is done to a model, it reads the same text."""
    save_model(tmp_path / "copy", load_model(model))
    assert (tmp_path / "copy" / "tokenizer.json").read_bytes() == (model / "tokenizer.json").read_bytes()
    copied = read_declaration(tmp_path / "copy").alphabet
    assert copied.encode(PROMPTS[0]) == read_declaration(model).alphabet.encode(PROMPTS[0])
