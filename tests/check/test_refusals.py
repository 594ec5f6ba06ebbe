"""What the prover refuses to ask, the checker refuses to be told: declarations that both read."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bundle_maker as maker
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.reading import Fields
from circuitproof.models.architecture import read_architecture
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.patterns import read_pattern
from circuitproof_check.architecture import read_architecture as read_by_checker
from circuitproof_check.patterns.shapes import read_pattern as read_pattern_by_checker
from circuitproof_check.reading import ForgedError
from circuitproof_check.task import read_task

GOOD = [
    {"norm": {"kind": "layer", "epsilon": "1/100000"}},
    {"norm": {"kind": "layer", "epsilon": "2/4"}},
    {"activation": {"kind": "gelu", "form": "exact"}},
    {"activation": {"kind": "gelu", "form": "tanh"}},
]
BAD = [
    {"norm": {"kind": "layer", "epsilon": "0"}},
    {"norm": {"kind": "layer", "epsilon": "-1/100000"}},
    {"norm": {"kind": "layer", "epsilon": "small; model compared"}},
    {"norm": {"kind": "layer", "epsilon": ""}},
    {"activation": {"kind": "gelu", "form": "new"}},
    {"activation": {"kind": "gelu", "form": "exact "}},
    {"activation": {"kind": "gelu", "form": ["exact"]}},
]

SIZE = read_by_checker(maker.architecture(), "architecture")
TOKEN = {"tokens": [1]}
spelled = st.recursive(
    st.sampled_from([TOKEN, {"all but": []}, {"tokens": []}]),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"sequence": parts}, st.lists(inner, max_size=3)),
        st.builds(lambda parts: {"choice": parts}, st.lists(inner, max_size=3)),
        st.builds(
            lambda part, least, most: {"repeat": part, "least": least, "most": most},
            inner,
            st.integers(0, 2),
            st.one_of(st.none(), st.integers(0, 2)),
        ),
    ),
    max_leaves=4,
)


def is_refused(read, *refusals) -> bool:
    """Say whether a reader refuses something."""
    try:
        read()
    except refusals:
        return True
    return False


@pytest.mark.parametrize("changes", [*GOOD, *BAD], ids=str)
def test_operators_without_an_exact_value_are_refused_alike(changes):
    """Nothing evaluates them, but a claim and a model are compared by them, and a sentence may name them."""
    declared = maker.architecture(**changes)
    by_prover = is_refused(
        lambda: read_architecture(Fields(declared, "architecture")), DeclarationError, InputError
    )
    by_checker = is_refused(lambda: read_by_checker(declared, "architecture"), ForgedError)
    assert by_prover == by_checker == (changes in BAD)


def test_an_epsilon_is_the_same_in_any_terms():
    """A claim in lowest terms is about a model that is not written so."""
    first, second = (
        read_by_checker(maker.architecture(norm={"kind": "layer", "epsilon": spelled}), "architecture")
        for spelled in ("1/2", "2/4")
    )
    assert first == second


@pytest.mark.parametrize(
    "names", [{}, {"1": "x", "3": "y"}, {"1": "x", "3": "x"}, {"0": "x", "5": "x"}], ids=str
)
def test_two_tokens_of_one_name_are_refused_alike(names):
    """A reader could not tell which of the candidates was decided."""
    task = maker.random_bundle(maker.architecture(), list(maker.CIRCUIT), seed=1, prompts=1).claim["task"]
    pairs = tuple((int(token), name) for token, name in names.items())
    by_prover = is_refused(lambda: Vocabulary(6, pairs), DeclarationError)
    by_checker = is_refused(lambda: read_task(task | {"names": names}, ((0,),), SIZE), ForgedError)
    assert by_prover == by_checker == (len(set(names.values())) < len(names))


@settings(max_examples=200)
@given(spelled, st.integers(1, 4))
@example({"choice": [TOKEN]}, 1)
@example({"choice": []}, 1)
@example({"sequence": [TOKEN]}, 1)
@example({"sequence": []}, 1)
@example({"choice": [TOKEN, {"choice": [TOKEN, TOKEN]}]}, 1)
@example({"sequence": [TOKEN, {"sequence": [TOKEN, TOKEN]}]}, 3)
@example({"sequence": [TOKEN, TOKEN]}, 3)
def test_sequences_and_choices_are_refused_alike(shape, longest):
    """A pattern that the prover would not ask about is not one to check: it has one spelling."""
    pattern = {"shape": shape, "clauses": [], "longest": longest}
    by_prover = is_refused(
        lambda: read_pattern(Fields({"pattern": pattern}, "domain")), DeclarationError, InputError
    )
    assert is_refused(lambda: read_pattern_by_checker(pattern, "pattern", SIZE), ForgedError) == by_prover
