import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import readable_json
from circuitproof.models.architecture import tensor_shapes
from circuitproof.models.declaration import DECLARATION, Declaration, read_declaration
from circuitproof.models.operators import Attention
from circuitproof.programs.text import parse
from circuitproof.tasks.alphabet import Alphabet
from models import ACTIVATIONS, NORMS, PROGRAMS, tiny_architecture
from strategies import architectures

LETTERS = Alphabet(tuple("ABCDEFG"))
SELF = ["default 0", "otherwise self"]


def written(directory, **changes):
    """Write the declaration of a tiny model with some of its keys changed, and return its directory."""
    content = json.loads(readable_json(Declaration(tiny_architecture(), {}, LETTERS).to_json()))
    (directory / DECLARATION).write_text(json.dumps(content | changes))
    return directory


@given(architectures(st.integers(2, 4)), st.booleans())
def test_a_declaration_is_read_back_as_it_was_written(tmp_path_factory, architecture, has_names):
    """Whatever the architecture."""
    names = Alphabet(tuple("ABCD"[: architecture.vocabulary])) if has_names else None
    declared = Declaration(architecture, {}, names)
    directory = tmp_path_factory.mktemp("model")
    (directory / DECLARATION).write_bytes(readable_json(declared.to_json()))
    assert read_declaration(directory) == declared


def test_programs_are_read_back_and_take_away_queries_and_keys(tmp_path):
    """Their text is the model's own, and the tensors follow from it."""
    declared = Declaration(tiny_architecture(), PROGRAMS, None)
    (tmp_path / DECLARATION).write_bytes(readable_json(declared.to_json()))
    assert read_declaration(tmp_path).programs == PROGRAMS
    gone = set(tensor_shapes(tiny_architecture())) - set(declared.shapes())
    assert gone == {
        f"head.{head.layer}.{head.index}.{role}.{kind}"
        for head in PROGRAMS
        for role in ("query", "key")
        for kind in ("weight", "bias")
    }


def test_more_names_than_tokens_are_refused(tmp_path):
    """One of them would name nothing."""
    with pytest.raises(InputError, match=f"{DECLARATION}: 8 tokens have names, but the vocabulary has 7"):
        read_declaration(written(tmp_path, alphabet=list("ABCDEFGH")))


@pytest.mark.parametrize("key", ["2.0", "0.2"])
def test_a_program_for_a_head_that_is_not_there_is_refused(tmp_path, key):
    """It would do nothing."""
    with pytest.raises(InputError, match=f"head {key} cannot be a program: there are 2 layers of 2 heads"):
        read_declaration(written(tmp_path, programs={key: SELF}))


def test_a_program_that_names_a_token_that_is_not_there_is_refused():
    """Surely it belongs to another alphabet."""
    program = parse("default 0\nadd 1 when key_token == 7\notherwise self")
    with pytest.raises(
        DeclarationError, match=r"the program of head 0\.1 names token 7, the model's tokens are 0 to 6"
    ):
        Declaration(tiny_architecture(), {Head(0, 1): program}, None)


@pytest.mark.parametrize("key", ["", "0", "00.0", "head 0.0", "0.0 "])
def test_a_head_has_one_spelling(tmp_path, key):
    """Two spellings of one head could carry two programs."""
    with pytest.raises(InputError, match=r"has a key .*, want layer and index of a head such as '0\.1'"):
        read_declaration(written(tmp_path, programs={"0.0": SELF, key: SELF}))


def test_lines_that_are_no_program_are_refused_with_their_place(tmp_path):
    """A model says wrong things of itself only once."""
    with pytest.raises(InputError, match=rf"{DECLARATION}.programs.0\.1"):
        read_declaration(written(tmp_path, programs={"0.1": ["attend to quotes"]}))


@pytest.mark.parametrize(
    ("key", "sentence"), [("extra", "is not a known key"), ("programs", "want an object")]
)
def test_the_keys_are_those_of_a_declaration(tmp_path, key, sentence):
    """No more, and of the right kind."""
    with pytest.raises(InputError, match=rf"{DECLARATION}\.{key} .*{sentence}"):
        read_declaration(written(tmp_path, **{key: 1}))


@pytest.mark.parametrize(
    ("changes", "programs", "operator"),
    [
        ({}, {}, None),
        ({"norm": NORMS[2], "activation": ACTIVATIONS[0]}, {}, None),
        ({"norm": NORMS[1]}, {}, "LayerNorm"),
        ({"activation": ACTIVATIONS[2]}, {}, "GELU"),
        ({"activation": ACTIVATIONS[3]}, PROGRAMS, "GELU"),
        ({"attention": Attention.SOFTMAX}, {}, "softmax"),
        ({"attention": Attention.SOFTMAX}, {Head(0, 0): PROGRAMS[Head(0, 0)]}, "softmax"),
        ({"attention": Attention.SOFTMAX}, PROGRAMS, None),
    ],
)
def test_a_declaration_says_what_keeps_the_whole_model_from_being_exact(changes, programs, operator):
    """Softmax is no matter where every head is a program."""
    assert Declaration(tiny_architecture(**changes), programs, None).inexact_operator == operator
