"""One grammar, two readers: the product's parser and the checker's accept the same programs and no others."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from circuitproof.programs.lines import parse_lines
from circuitproof.programs.text import to_text
from circuitproof_check.programs import parse_program
from circuitproof_check.reading import ForgedError
from program_strategies import accepts, programs, prompts
from program_twin import dense_row

VOCABULARY = 6
WORDS = [
    *(
        "default",
        "add",
        "when",
        "otherwise",
        "self",
        "nowhere",
        "and",
        "or",
        "not",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
    ),
    *("==", "!=", "<", "<=", ">", ">=", "in", "true", "false", "token_match", "first", "last", "nearest"),
    *("key_token", "query_token", "key_position", "query_position", "relative_distance", "absolute_distance"),
    *(
        "key_count",
        "query_count",
        "key_depth",
        "query_depth",
        "up",
        "to",
        "unmatched",
        "partner",
        "key_tokens",
    ),
    *(
        "0",
        "1",
        "2",
        "5",
        "6",
        "007",
        "1/2",
        "1/0",
        "0/3",
        "-1",
        "0.5",
        "#",
        "A",
        "\t",
        "9" * 18,
        "1" + "0" * 18,
    ),
]
CONDITIONS = (
    "key_token {} {}",
    "query_token {} {}",
    "not key_token {} {}",
    "first (key_position {} {} or token_match)",
    "key_count {{1, 2}} up to 2 {} {}",
    "query_depth {{1: 2}} up to 3 {} {}",
    "relative_distance {} {} and unmatched {{0: 1, 2: 1}}",
    "token_match {} {}",
)
VALUES = ("0", "3", "5", "6", "{0}", "{0, 3}", "{3, 3}", "{}", "true", "false", "{1: 2}", "1/2", "")


def read(lines: list[str]) -> bool:
    """Say whether the checker reads lines as a program."""
    try:
        parse_program(lines, "here", VOCABULARY)
    except ForgedError:
        return False
    return True


def mutated(lines: list[str], chance: Random) -> list[str]:
    """Return lines in which a word, a sign or a line was dropped, repeated, replaced or moved."""
    lines = list(lines)
    place = chance.randrange(len(lines))
    words = lines[place].split(" ")
    at = chance.randrange(len(words))
    match chance.randrange(7):
        case 0:
            del words[at]
        case 1:
            words.insert(at, chance.choice(WORDS))
        case 2:
            words[at] = chance.choice(WORDS)
        case 3:
            words.insert(at, words[at])
        case 4:
            lines[place:place] = [chance.choice(["", " ", lines[place], "add 1", "otherwise self"])]
            return lines
        case 5:
            letter = chance.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:letter] + chance.choice(" (){},:/01=<>!\n") + lines[place][letter:]
            return lines
        case _:
            words = [word for word in words if word] * chance.randrange(1, 3)
    lines[place] = " ".join(words)
    return lines


@settings(max_examples=200)
@given(programs, st.integers(0, 10**9), st.integers(0, 2))
def test_parser_and_checker_accept_the_same_programs(program, seed, count):
    """Whatever the product would refuse to store, the checker refuses to read, and the other way round."""
    chance, lines = Random(seed), to_text(program).splitlines()  # noqa: S311  # changes, not secrets
    for _ in range(count):
        lines = mutated(lines, chance)
    assert accepts(lines, VOCABULARY) == read(lines), lines


def test_neither_reader_is_looser_on_any_single_comparison():
    """Every feature with every sign and every kind of value, tokens in order among them."""
    outcomes: Counter[bool] = Counter()
    for condition in CONDITIONS:
        for sign in ("==", "!=", "<", "<=", ">", ">=", "in", "is", ""):
            for value in VALUES:
                lines = ["default 0", f"add 1 when {condition.format(sign, value)}", "otherwise self"]
                outcomes[read(lines)] += 1
                assert accepts(lines, VOCABULARY) == read(lines), lines
    assert min(outcomes.values()) > 100


@pytest.mark.parametrize("depth", [15, 16, 17, 31, 32, 33, 34])
@pytest.mark.parametrize("word", ["not ", "first ", "(", "(token_match or ", "(token_match and ", "not ("])
def test_both_readers_count_levels_alike(depth, word):
    """Parts that are joined by the same word, parentheses and `not token_match` add none."""
    for atom in ("token_match", "key_position == 0", "not token_match", "token_match != false"):
        lines = [
            "default 0",
            f"add 1 when {word * depth}{atom}{')' * word.count('(') * depth}",
            "otherwise self",
        ]
        assert accepts(lines, VOCABULARY) == read(lines), lines


@given(programs, prompts)
def test_what_both_accept_means_the_same(program, prompt):
    """The checker's row is the definition's, on the product's own reading of the stored lines."""
    lines = to_text(program).splitlines()
    if accepts(lines, VOCABULARY):
        stored, judged = parse_lines(lines, "here", VOCABULARY), parse_program(lines, "here", VOCABULARY)
        for query in range(len(prompt)):
            assert list(judged.row(prompt, query)) == dense_row(stored, prompt, query)
