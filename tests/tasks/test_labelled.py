import pytest

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import canonical_json, digest_bytes
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.labelling import Label
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.patterns import TokenClass
from circuitproof_lab.train.tokenizer import gpt2_tokenizer
from pattern_claims import task_of
from places import RECIPES

FILE = """
name = "quotes"
vocabulary = 12
candidates = [9, 10]
answers = [[9, 9], [10, 10]]
pattern = "any{1..3} with exactly 1 of quotes"
[sets]
quotes = [9, 10]
[names]
9 = "'"
"""


def test_every_prompt_has_one_label():
    """Its right answer and its class follow from its only opener."""
    task = task_of("any{1..2} with exactly 1 of [0, 1]", answers=((0, 1), (1, 0))).labelled
    assert task.labels == (Label(0, 1), Label(1, 0))
    assert task.label_of((0, 5)) == Label(1, 0)
    assert task.size == 2 + 4 * 4
    assert task.labels_by.classes == (TokenClass((0,)), TokenClass((1,)))
    for prompt in ((0, 1), (0, 1, 2)):
        with pytest.raises(InputError, match="is not one of the pattern"):
            task.label_of(prompt)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("any{1..2}", r"denotes prompt \(2,\), which does not hold just one of the openers \[0, 1\]"),
        ("0 [0, 2]", r"denotes prompt \(0, 0\)"),
        ("0*  up to 1 tokens", "denotes the empty prompt"),
        ("0 with exactly 1 of 3", "denotes no prompt; a claim about nothing says nothing"),
        ("2{20} any", r"denotes prompt \(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, \.\.\.\)"),
    ],
)
def test_a_pattern_with_an_undefined_answer_is_refused_with_an_example(text, sentence):
    """Otherwise a claim would say nothing about some prompts."""
    with pytest.raises(DeclarationError, match=sentence):
        task_of(text)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"candidates": (0,)}, "want two or more, all distinct"),
        ({"candidates": (0, 7)}, "token 7 is unknown"),
        ({"answers": ((0, 3), (1, 1))}, "answer 3 to opener 0 is not among candidates"),
    ],
)
def test_a_task_that_contradicts_itself_is_refused(options, sentence):
    """Holding a task is proof that it is consistent."""
    with pytest.raises(DeclarationError, match=sentence):
        task_of("any with exactly 1 of [0, 1]", **options)


def test_a_task_file_is_read(tmp_path):
    """The pattern on the command line goes before that of the file."""
    (tmp_path / "task.toml").write_text(FILE)
    task = load_task(str(tmp_path / "task.toml"))
    assert (task.name, task.size, task.alphabet.text((9, 3))) == ("quotes", 2 + 40 + 600, "' <3>")
    other = load_task(str(tmp_path / "task.toml"), pattern="quotes")
    assert other.size == 2
    assert other.relation == task.relation


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[10, 10]", "[10]", r"answers\[1\] is \[10\], want an opener and its answer"),
        ("pattern =", "patern =", "pattern is missing"),
        ("9 = ", "x = ", "has a key 'x', want a token's number"),
        ("of quotes", "of quote", r"task\.toml\.pattern, column 29: found 'quote'"),
        ("exactly 1", "exactly 2", "does not hold just one of the openers"),
    ],
)
def test_a_wrong_task_file_is_refused_with_its_place(tmp_path, old, new, sentence):
    """One sentence says what to mend."""
    (tmp_path / "task.toml").write_text(FILE.replace(old, new))
    with pytest.raises(InputError, match=sentence):
        load_task(str(tmp_path / "task.toml"))


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*-pattern.toml")), ids=lambda path: path.stem)
def test_the_shipped_task_files_name_the_tokens_they_speak_of(path):
    """Every opener has an answer and a name; for GPT-2 each name is the text of its token."""
    task = load_task(str(path))
    openers = task.labelled.labels_by.openers
    named = task.alphabet.named()
    assert openers | set(task.candidates) <= named.keys()
    if path.stem.startswith("gpt2"):
        encode = gpt2_tokenizer().encode
        assert all(encode(text) == (token,) for token, text in named.items())


def test_the_declaration_says_all_and_its_digest_pins_it(tmp_path):
    """A checker compares every part: the name, the rules, the vocabulary, the names and the pattern."""
    (tmp_path / "task.toml").write_text(FILE)
    task = load_task(str(tmp_path / "task.toml"))
    assert task.to_json() == {
        "name": "quotes",
        "vocabulary": 12,
        "names": {"9": "'"},
        "candidates": [9, 10],
        "answer": {"kind": "only opener", "answers": [[9, 9], [10, 10]]},
        "relation": {"kind": "same opener", "openers": [9, 10]},
        "domain": {"pattern": task.domain.to_json()},
    }
    assert task.digest == digest_bytes(canonical_json(task.to_json()))
    stated = task.to_json()
    del stated["domain"], stated["vocabulary"]
    assert task.in_claim() == {**stated, "declaration": str(task.digest)}


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (((6, "x"),), "token 6 has a name, but the vocabulary has tokens 0 to 5"),
        (((2, "x"), (3, "y"), (2, "z")), "token 2 has two names; give it one"),
    ],
)
def test_names_are_one_for_a_token_of_the_vocabulary(names, sentence):
    """In a claim they are an object by token."""
    with pytest.raises(DeclarationError, match=sentence):
        Vocabulary(6, names)


def test_lengths_are_those_that_some_prompt_has():
    """A bound of the pattern need not be one."""
    assert task_of("[0, 1] | 2 3 [0, 1]").lengths() == {1, 3}
    assert task_of("any{1..4} with exactly 1 of [0, 1] and [0, 1] only at 1..2").lengths() == {2, 3, 4}


def test_examples_are_shortest_prompts_one_of_each_label():
    """Somewhere to look for a prompt that shows more."""
    task = task_of("2 any{1..2} with exactly 1 of [0, 1]", answers=((0, 1), (1, 0))).labelled
    assert tuple(task.examples.values()) == ((2, 1), (2, 0))
    assert tuple(map(task.label_of, task.examples.values())) == task.labels
