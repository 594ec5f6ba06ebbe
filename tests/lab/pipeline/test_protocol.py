import pytest

from circuitproof.errors import CircuitproofError
from circuitproof.find.choices import SelectionRule
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.pipeline.prompts import TaskPrompts
from circuitproof_lab.pipeline.protocol import load_protocol
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.splits import deal_rounds
from places import RECIPES
from protocols import OWN_TASK, write_own_protocol, write_protocol
from recipes import write_recipe
from tokenizer_files import write_tokenizer


def test_a_protocol_is_read_whole(tmp_path):
    """What is fixed before a run is what the file says."""
    protocol = load_protocol(write_protocol(tmp_path))
    assert [(one.name, one.development, one.gate, one.rule) for one in protocol.generations] == [
        ("A", 8, 16, SelectionRule.SPARSITY),
        ("B", 0, 32, SelectionRule.MARGIN),
    ]
    assert protocol.model == tmp_path / "model"
    assert protocol.method.thresholds == (0.01, 0.1)
    assert [generator.task for generator in protocol.generators] == ["quotes"]


def test_the_digest_covers_the_protocol_and_the_model(tmp_path):
    """Changing either is another experiment."""
    before = load_protocol(write_protocol(tmp_path)).digest
    assert load_protocol(write_protocol(tmp_path)).digest == before
    assert load_protocol(write_protocol(tmp_path, {'salt = "one"': 'salt = "two"'})).digest != before
    manifest = tmp_path / "model" / "manifest.json"
    manifest.write_text(manifest.read_text() + " ")
    assert load_protocol(write_protocol(tmp_path)).digest != before


def test_a_model_can_be_a_training_recipe(tmp_path):
    """Then the digest is that of the recipe, and the model is trained first."""
    write_recipe(tmp_path / "train.toml")
    changes = {'directory = "model"': 'recipe = "train.toml"'}
    protocol = load_protocol(write_protocol(tmp_path, changes))
    assert isinstance(protocol.model, Recipe)
    before = protocol.digest
    write_recipe(tmp_path / "train.toml", {"seed": "6"})
    assert load_protocol(write_protocol(tmp_path, changes)).digest != before


def test_texts_can_go_through_a_tokenizer(tmp_path):
    """Openers and fillers are then whatever it makes one token of."""
    write_tokenizer(tmp_path / "tokenizer.json", ["<BOS>", "<TASK_QUOTE>", "A", "B", "C", "D", "'", '"'])
    changes = {'vocabulary = "toy"': 'vocabulary = "tokenizer.json"'}
    (generator,) = load_protocol(write_protocol(tmp_path, changes)).generators
    assert isinstance(generator.encoder, FileTokenizer)
    assert len(generator.order()) == 128
    assert generator.encoder.alphabet.names[6:8] == ("'", '"')


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({'directory = "model"': ""}, "protocol.toml.model wants either recipe or directory, and one of"),
        ({'directory = "model"': 'directory = "model"\nrecipe = "x"'}, "and one of them only"),
        (
            {"development = 8": "development = 0"},
            r"generations\[0\].development is 0; the first genera",
        ),
        ({'name = "B"': 'name = "A"'}, r"generations are \['A', 'A'\], want some, with distinct names"),
        ({'name = "B"': 'name = "bundles"'}, "'bundles' is a folder of every run; choose another name"),
        ({'name = "B"': 'name = "../B"'}, "want letters, digits and underscores: it names a folder"),
        ({'name = "quotes"': 'name = "a/b"'}, "want some, with distinct plain names"),
        ({'epsilon = "1/100"': 'epsilon = "-1"'}, "epsilon is -1, want a positive rational"),
        (
            {"thresholds = [0.01, 0.1]": "thresholds = [0.01, 'x']"},
            r"thresholds\[1\] is the string",
        ),
        ({"thresholds = [0.01, 0.1]": "thresholds = []"}, r"protocol.toml.method: no thresholds to sweep"),
        ({"stop_when_exact = false": "stop_when_exact = 0"}, "want true or false"),
        (
            {"{x} {opener}": "{x} {closer}"},
            r"protocol.toml.tasks\[0\]: .* want the slot {opener} exactly once",
        ),
        ({'vocabulary = "toy"': 'vocabulary = "nowhere.json"'}, "cannot read .*nowhere.json"),
        ({'"A", "B", "C", "D"], y': '"A", "E", "C", "D"], y'}, "'E' is not a token of this alphabet"),
    ],
)
def test_a_protocol_with_a_mistake_is_refused_with_its_place(tmp_path, change, sentence):
    """One sentence each; the last one shows when prompts are made."""
    path = write_protocol(tmp_path, change)
    with pytest.raises(CircuitproofError, match=sentence):
        load_protocol(path).generators[0].order()


def test_a_task_file_supplies_prompts_in_an_order_that_only_the_salt_changes(tmp_path):
    """Every prompt once, answers in turn; another content of the file is another protocol."""
    before = load_protocol(write_own_protocol(tmp_path))
    (prompts,) = before.generators
    rows = prompts.order()
    assert (prompts.task, len(rows), len({row.prompt for row in rows})) == ("own-quotes", 128, 128)
    assert [row.opener for row in rows[:4]] == ["'", '"', "'", '"']
    (other,) = load_protocol(
        write_own_protocol(tmp_path, changes={'salt = "one"': 'salt = "two"'})
    ).generators
    assert set(other.order()) == set(rows) != other.order() != rows
    changed = load_protocol(write_own_protocol(tmp_path, OWN_TASK.replace('"C", "D"]\ny', '"C"]\ny')))
    assert changed.digest != before.digest


def test_some_prompts_of_a_task_keep_their_answers_and_classes(tmp_path):
    """What a split asks is what the whole task asks of the same prompts."""
    (prompts,) = load_protocol(write_own_protocol(tmp_path)).generators
    whole, rows = prompts.declared, prompts.order()[10:20]
    part = prompts.make_task(rows)
    places = [whole.domain.prompts.index(row.prompt) for row in rows]
    assert part.answers() == tuple(whole.answers()[place] for place in places)
    assert part.candidates == whole.candidates
    assert part.relation.classes == tuple(whole.relation.classes[place] for place in places)
    shipped = TaskPrompts(toy_quotes(), "one")
    assert shipped.make_task(shipped.order()).answer == toy_quotes().answer


def deal_all(protocol):
    """Deal the prompts of every task out, as a run does first."""
    return [deal_rounds(protocol, prompts) for prompts in protocol.generators]


PATTERN = RECIPES / "toy-quotes-pattern.toml"


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (PATTERN.read_text(), "is about a pattern, and listed prompts are wanted here"),
        (OWN_TASK.replace('name = "own-quotes"', 'name = "own/quotes"'), "with distinct plain names"),
        (OWN_TASK.replace('"A", "B", "C", "D"', '"A", "B"'), r"need 56, the templates give 16 distinct ones"),
    ],
)
def test_a_task_file_that_cannot_supply_a_protocol_is_refused(tmp_path, task, sentence):
    """One sentence says what is missing."""
    path = write_own_protocol(tmp_path, task)
    with pytest.raises(CircuitproofError, match=sentence):
        deal_all(load_protocol(path))


def test_prompts_in_words_need_a_vocabulary(tmp_path):
    """Only tasks that bring their own tokens do without."""
    with pytest.raises(CircuitproofError, match=r"protocol\.toml\.vocabulary is missing"):
        load_protocol(write_protocol(tmp_path, {'vocabulary = "toy"\n': ""}))
