from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.graph import Mlp
from circuitproof.errors import InputError
from circuitproof.forward.interface import Interface, Side
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.tasks.alphabet import Alphabet, Vocabulary
from hand_models import ADDED, ADDER, build, circuit_of, freeze
from pattern_claims import task_of

TASK = task_of("any{2..3} with exactly 1 of [0, 1]", vocabulary=5)


def claim(task=TASK, prop=None, alphabet=None) -> Claim:
    """Return a claim about the adder on a pattern."""
    frozen = freeze(build(ADDER), alphabet)
    return Claim(frozen, circuit_of(ADDED), task, (prop or Equivalence(),))


def test_names_are_those_of_the_model():
    """Some tokens need a name, and it is the one that the model has."""
    named = replace(TASK, alphabet=Vocabulary(5, ((0, "a"), (4, "e"))))
    assert claim(named, alphabet=Alphabet(tuple("abcde"))).task == named
    assert claim(named).task == named


@pytest.mark.parametrize(
    ("alphabet", "found"), [(tuple("abcdX"), "is called 'X' in the model"), (tuple("abcd"), "has no name in")]
)
def test_a_name_that_is_not_the_models_is_refused(alphabet, found):
    """The same number with another name makes another task."""
    named = replace(TASK, alphabet=Vocabulary(5, ((0, "a"), (4, "e"))))
    with pytest.raises(InputError, match=f"alphabet is not that of task 't': token 4, 'e' there, {found}"):
        claim(named, alphabet=Alphabet(alphabet))


def test_positions_that_some_prompt_lacks_are_refused():
    """There is nothing to perturb in it."""
    with pytest.raises(InputError, match="position 2 is perturbed, but a prompt has only 2 tokens"):
        claim(prop=Robustness(Fraction(1), Interface(Mlp(0), Side.OUTPUT, (0, 2))))


def test_a_final_residual_that_decides_no_prompt_is_refused():
    """Position 0 is the last of no prompt; position 1 is of some."""
    with pytest.raises(InputError, match="logits input at positions 0 reaches the logits of no prompt"):
        claim(prop=Robustness(Fraction(1), Interface(positions=(0,))))
    assert claim(prop=Robustness(Fraction(1), Interface(positions=(0, 1))))


def test_a_place_that_the_circuit_does_not_use_is_refused():
    """As for lists."""
    with pytest.raises(InputError, match="cannot be perturbed: the circuit does not use mlp 0"):
        Claim(
            freeze(build(ADDER)),
            circuit_of(("embed -> logits",)),
            TASK,
            (Robustness(Fraction(1), Interface(Mlp(0), Side.OUTPUT)),),
        )
