import pytest

from circuitproof.errors import InputError
from circuitproof.tasks import generator
from circuitproof.tasks.loading import load_task

FILE = """
name = "agreement"
alphabet = ["the", "dog", "dogs", "by", "runs", "run"]
[slots]
noun = ["dog", "dogs"]
near = ["dog", "dogs"]
[[templates]]
name = "plain"
text = "the {noun}"
answer = { noun = { dog = "runs", dogs = "run" } }
[[templates]]
name = "near"
text = "the {noun} by the {near}"
answer = { noun = { dog = "runs", dogs = "run" } }
irrelevant = ["near"]
"""
COPY = """
name = "copy"
alphabet = ["a", "b", "c"]
slots = { x = ["a", "b", "c"], y = ["a", "b", "c"] }
[[templates]]
name = "two"
text = "{x} {y} {x}"
answer = "{y}"
distinct = ["x", "y"]
"""


def written(folder, text):
    """Return the task that a file with this text declares."""
    (folder / "task.toml").write_text(text)
    return load_task(str(folder / "task.toml"))


def test_templates_are_filled_in_every_way_and_a_fixed_order(tmp_path):
    """Template by template, the last slot first; strata are the templates."""
    task = written(tmp_path, FILE)
    texts = [task.alphabet.text(prompt) for prompt in task.domain.prompts]
    near = [f"the {noun} by the {other}" for noun in ("dog", "dogs") for other in ("dog", "dogs")]
    assert texts == ["the dog", "the dogs", *near]
    assert task.domain.strata == ("plain", "plain", *["near"] * 4)
    assert [task.alphabet.names[answer] for answer in task.answers()] == [
        "runs",
        "run",
        *["runs"] * 2,
        *["run"] * 2,
    ]


def test_prompts_that_differ_only_in_what_must_not_matter_are_one_class(tmp_path):
    """And no others: a template without such a slot has a class for each prompt."""
    assert written(tmp_path, FILE).classes() == ((0,), (1,), (2, 3), (4, 5))


def test_an_answer_can_be_spelled_with_slots_and_slots_can_differ(tmp_path):
    """A slot may stand twice; of nine choices six have different letters."""
    task = written(tmp_path, COPY)
    assert len(task.domain) == 6
    assert all(
        prompt[1] == answer for prompt, answer in zip(task.domain.prompts, task.answers(), strict=True)
    )
    assert all(prompt[0] == prompt[2] != prompt[1] for prompt in task.domain.prompts)


@pytest.mark.parametrize(
    ("text", "old", "new", "sentence"),
    [
        (
            FILE,
            "[slots]",
            '[slots]\nfar = ["by"]',
            "slot 'far' stands in no template; use it",
        ),
        (FILE, "{near}", "{nigh}", r"irrelevant speaks of \{near\}, which its text does not hold"),
        (FILE, "near =", "nigh =", r"template 'near' has a slot \{near\} without words"),
        (FILE, '["dog", "dogs"]', '["dog", "dog"]', "want some, all distinct"),
        (FILE, '["dog", "dogs"]', '["dog", "cat"]', "the answer's table has no 'cat', which can stand in"),
        (FILE, '"plain"', '"near"', "two templates have one name; give each its own"),
        (FILE, '"the {noun}"', '"a {noun}"', r"templates, 'a dog'\[0\] is 'a', want a token's number or one"),
        (FILE, '"the {noun}"', '"the {noun"', "expected '}' before end of string"),
        (FILE, '"the {noun}"', '"the {noun.x}"', r"has the slot \{noun.x\}, want a plain name"),
        (FILE, '"by", "runs"', '"by", "walks"', "the answer to 'the dog' is 'runs', want a token's number"),
        (FILE, "{ noun = {", "{ nouns = {", r"answer speaks of \{nouns\}, which its text does not hold"),
        (FILE, 'irrelevant = ["near"]', 'irrelevant = ["noun"]', r"the answer reads \{noun\}, which is said"),
        (
            COPY,
            '"{y}"',
            '"{x} {y}"',
            r"the answer to 'a b a' is 'a b', want a token's number",
        ),
        (COPY, '["x", "y"]', '["x", "z"]', r"distinct speaks of \{z\}, which its text does not hold"),
        (COPY, '"{y}"', "{}", r"answer has tables for \[\], want one slot's"),
        (COPY, '["x", "y"]\n', '["x", "y"]\nclass = 1', "class is not a known key"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, text, old, new, sentence):
    """What is misspelt is not left out in silence."""
    with pytest.raises(InputError, match=sentence):
        written(tmp_path, text.replace(old, new, 1))


def test_prompts_that_two_templates_share_are_refused(tmp_path):
    """One prompt has one answer."""
    again = '[[templates]]\nname = "again"\ntext = "a {y} a"\nanswer = "{y}"\n'
    with pytest.raises(InputError, match=r"prompts 0 and 7 are both .*; list each prompt once"):
        written(tmp_path, COPY + again)


def test_too_many_prompts_are_refused_before_they_are_made(tmp_path, monkeypatch):
    """A product of slots grows fast."""
    monkeypatch.setattr(generator, "MOST_PROMPTS", 5)
    with pytest.raises(InputError, match="the templates give 6 prompts, want at most 5"):
        written(tmp_path, FILE)
