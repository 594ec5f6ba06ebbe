import pytest

from circuitproof.errors import CircuitproofError
from circuitproof.lab.discover.choices import Rule
from circuitproof.lab.runs.protocol import load_protocol
from circuitproof.lab.runs.recipe import Recipe
from circuitproof.lab.train.tokenizer import FileTokenizer
from protocols import write_protocol
from recipes import write_recipe
from tokenizer_files import write_tokenizer


def test_a_protocol_is_read_whole(tmp_path):
    """What is fixed before a run is what the file says."""
    protocol = load_protocol(write_protocol(tmp_path))
    assert [(one.name, one.development, one.gate, one.rule) for one in protocol.generations] == [
        ("A", 8, 16, Rule.SPARSITY),
        ("B", 0, 32, Rule.MARGIN),
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
        ({'name = "B"': 'name = "../B"'}, "want letters, digits and underscores: it names a folder"),
        ({'name = "quotes"': 'name = "a/b"'}, "want some, with distinct plain names"),
        ({'epsilon = "1/100"': 'epsilon = "-1"'}, "epsilon is -1, want at least 0"),
        (
            {"thresholds = [0.01, 0.1]": "thresholds = [0.01, 'x']"},
            r"thresholds\[1\] is the string",
        ),
        ({"thresholds = [0.01, 0.1]": "thresholds = []"}, "no thresholds to sweep"),
        ({"stop_when_exact = false": "stop_when_exact = 0"}, "want true or false"),
        ({"{x} {opener}": "{x} {closer}"}, "want the slot {opener} exactly once"),
        ({'vocabulary = "toy"': 'vocabulary = "nowhere.json"'}, "cannot read .*nowhere.json"),
        ({'"A", "B", "C", "D"], y': '"A", "E", "C", "D"], y'}, "'E' is not a token of this alphabet"),
    ],
)
def test_a_protocol_with_a_mistake_is_refused_with_its_place(tmp_path, change, sentence):
    """One sentence each; the last one shows when prompts are made."""
    path = write_protocol(tmp_path, change)
    with pytest.raises(CircuitproofError, match=sentence):
        load_protocol(path).generators[0].order()
