from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.forward.frozen import Frozen
from circuitproof.models.operators import Attention, LeakyRelu
from circuitproof.programs.text import parse
from circuitproof.proof.evidence import OneTensor
from circuitproof.proof.properties.lesion_identity import LesionIdentity, identity_with
from circuitproof.proof.verdict import Verdict
from hand_models import ADDER, IDENTITY, PLAIN, build, freeze

SIZES = replace(PLAIN, heads=2, biases=True)
LOOK = parse("default 0\nadd 1 when key_token == 3\notherwise self")
HEAD, OTHER = Head(0, 0), Head(0, 1)
BASE = freeze(build(ADDER, SIZES))
READOUT = {"head.0.0.value.weight": IDENTITY, "head.0.0.output.weight": IDENTITY}


def artifact(changes=None, sizes=SIZES, heads=(HEAD,)) -> Frozen:
    """Return the base with programs installed, their readouts calibrated, and some weights changed."""
    return freeze(build({**ADDER, **READOUT, **(changes or {})}, sizes, dict.fromkeys(heads, LOOK)))


def test_an_artifact_without_its_program_heads_is_its_base():
    """Every tensor but the readout's is listed with one digest; the base tells what it is."""
    made = artifact()
    prop = identity_with(BASE, made)
    answer = prop.answer(made)
    assert answer.verdict is Verdict.PROVED
    assert answer.obligations == len(made.file.places) - 3
    assert (prop.base.architecture, dict(prop.base.programs)) == (SIZES, {})
    assert {name for name, _ in prop.base.tensors} == set(BASE.declaration.shapes())
    assert {name for name, _ in prop.artifact} == set(made.declaration.shapes())


def test_a_base_may_have_programs_where_the_artifact_has_them():
    """Another readout of the same program, or another program there, changes nothing outside."""
    before = freeze(build(ADDER, SIZES, {HEAD: parse("default 1\notherwise self")}))
    made = artifact(heads=(HEAD, OTHER))
    assert identity_with(before, made).answer(made).verdict is Verdict.PROVED


def test_a_changed_tensor_refutes():
    """It is named."""
    made = artifact({"mlp.0.down.bias": [0, 1]})
    answer = identity_with(BASE, made).answer(made)
    assert (answer.verdict, answer.evidence) == (Verdict.REFUTED, OneTensor("mlp.0.down.bias"))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"attention": Attention.SOFTMAX}, "attention"),
        ({"attention_scale": Fraction(1, 2)}, "attention_scale"),
        ({"activation": LeakyRelu(Fraction(1, 4))}, "activation"),
        ({"context": 4}, "context"),
        ({"layers": 2}, "layers"),
        ({"logit_bias": True}, "logit_bias"),
        ({"tied": True}, "tied"),
    ],
)
def test_a_base_of_another_architecture_is_refused(changes, field):
    """The same tensors under another activation are another model."""
    other = build({}, replace(SIZES, **changes))
    with pytest.raises(InputError, match=rf"^the base's {field} is .*, the artifact's .*same architecture"):
        identity_with(freeze(other), artifact())


def test_a_base_with_a_program_that_the_artifact_lacks_is_refused():
    """Without the artifact's programs the base would still run its own."""
    before = freeze(build(ADDER, SIZES, {OTHER: LOOK}))
    with pytest.raises(InputError, match=r"head 0\.1 is a program in the base but not in the artifact"):
        identity_with(before, artifact())


def test_tables_that_are_not_those_of_the_declarations_are_refused():
    """A tensor that nobody lists is one that nobody compares."""
    made = artifact()
    prop = identity_with(BASE, made)
    first, *others = prop.base.tensors
    with pytest.raises(InputError, match=f"the base lacks tensor {first[0]}, which its declaration has"):
        replace(prop, base=replace(prop.base, tensors=tuple(others))).answer(made)
    more = (*prop.base.tensors, ("zeros", first[1]))
    with pytest.raises(InputError, match="the base holds tensor zeros, which its declaration does not have"):
        replace(prop, base=replace(prop.base, tensors=more)).answer(made)
    with pytest.raises(InputError, match="the digests of the artifact are not those of the model"):
        LesionIdentity(prop.base, prop.artifact[1:]).answer(made)


def test_weights_that_are_not_those_of_a_declaration_are_refused():
    """A file can be opened beside a declaration that is not its own."""
    made = artifact()
    wrong = Frozen(made.declaration, BASE.file)
    with pytest.raises(InputError, match=r"the artifact holds tensor head\.0\.0\.key\.bias, which its decl"):
        identity_with(BASE, wrong)
