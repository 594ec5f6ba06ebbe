import pytest

from circuitproof.errors import DeclarationError
from circuitproof.files.reading import reading
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.patterns import (
    ANY,
    Alternation,
    CountClause,
    Only,
    Pattern,
    Repeat,
    Sequence,
    TokenClass,
    atoms_of,
    longest_of,
    read_pattern,
)

TEXTS = (
    "any",
    "1 2 any{0..3} with exactly 1 of [3, 4]",
    "(1 | any but [2, 3]) 4* with at least 2 of 4 and at most 3 of any and 5 only at 1..4 up to 7 tokens",
    "(any 3){2..} with exactly 1..3 of 3 up to 9 tokens",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_pattern_reads_back_from_its_json(text):
    """A claim file is complete."""
    pattern = parse_pattern(text)
    with reading({"pattern": pattern.to_json()}, "domain") as fields:
        assert read_pattern(fields) == pattern


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: TokenClass(()), "a class of no tokens"),
        (lambda: TokenClass((3, 1)), "want increasing numbers"),
        (lambda: Sequence((ANY,)), "a sequence wants two or more parts"),
        (lambda: Alternation((ANY, Alternation((ANY, ANY)))), "a choice wants two or more parts"),
        (lambda: Repeat(ANY, 2, 1), "repeated 2 to 1 times"),
        (lambda: Repeat(ANY, 0, 0), "repeated 0 to 0 times"),
        (lambda: CountClause(ANY, 2, 1), "counted 2 to 1 times"),
        (lambda: Only(ANY, 3, 2), "positions 3 to 2"),
        (lambda: Pattern(ANY, (), 0), "prompts of up to 0 tokens"),
        (lambda: Pattern(ANY, (), 2), "the shape has at most 1"),
    ],
)
def test_what_contradicts_itself_is_refused(make, sentence):
    """Holding a pattern is proof that it means something."""
    with pytest.raises(DeclarationError, match=sentence):
        make()


def test_atoms_are_the_largest_sets_that_no_class_cuts():
    """Tokens that nothing tells apart are handled together, however many they are."""
    classes = [TokenClass((1, 2)), TokenClass((2, 3), is_complement=True)]
    assert atoms_of(classes, 6) == ((1,), (2,), (3,), (0, 4, 5))
    assert atoms_of([TokenClass((0, 1))], 2) == ((0, 1),)
    with pytest.raises(DeclarationError, match="token 6 is unknown; the vocabulary has tokens 0 to 5"):
        atoms_of([TokenClass((6,))], 6)


@pytest.mark.parametrize(("text", "longest"), [("1 2{3} (3 | 4 5){2}", 8), ("1 2* up to 5 tokens", None)])
def test_the_longest_prompt_of_a_shape_is_known(text, longest):
    """Without a bound in the shape the text has to give one."""
    assert longest_of(parse_pattern(text).shape) == longest
