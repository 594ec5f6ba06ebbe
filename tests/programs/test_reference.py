"""The reference of the language: every example of `docs/programs.md` does what the page says."""

import re
from fractions import Fraction

import pytest
import torch

from circuitproof.errors import InputError
from circuitproof.nn.program_heads import Patterns
from circuitproof.programs.atoms import Link, PairEnd
from circuitproof.programs.features import Feature
from circuitproof.programs.meaning import row
from circuitproof.programs.syntax import Pick
from circuitproof.programs.text import parse, to_text
from circuitproof_check.programs import parse_program
from places import DOCS

PAGE = (DOCS / "programs.md").read_text()
EXAMPLES = re.findall(r"```program\n(.*?)\n\n(.*?)\n```", PAGE, re.DOTALL)
MISTAKES = re.findall(r"```mistake\n(.*?)\n\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("text", "shown"), EXAMPLES)
def test_the_rows_of_an_example_are_those_shown(text, shown):
    """A reader who learns from the page learns the truth, of the exact meaning, torch and the checker."""
    program = parse(text)
    judged = parse_program(to_text(program).splitlines(), "page", 100)
    first, *rows = shown.splitlines()
    prompt = [int(token) for token in first.removeprefix("prompt ").split()]
    assert rows
    for line in rows:
        query, weights = re.fullmatch(r"row (\d+): (.*)", line).groups()
        wanted = [Fraction(weight) for weight in weights.split()]
        found = dict(row(program, prompt, int(query)))
        assert [found.get(key, 0) for key in range(int(query) + 1)] == wanted
        assert list(judged.row(prompt, int(query))) == wanted
        rounded = Patterns(torch.tensor([prompt])).of(program)[0, int(query)]
        assert torch.equal(rounded[: len(wanted)], torch.tensor([float(weight) for weight in wanted]))


@pytest.mark.parametrize(("text", "sentence"), MISTAKES)
def test_a_mistake_is_refused_as_shown(text, sentence):
    """Sentence, line and mark."""
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value) == sentence


def test_every_block_of_the_page_is_run():
    """An example in a block of another kind would go unnoticed."""
    assert PAGE.count("```") == 2 * (len(EXAMPLES) + len(MISTAKES))
    assert EXAMPLES
    assert MISTAKES


def test_every_word_of_the_language_is_in_an_example():
    """What is not shown is not documented."""
    shown = " ".join(to_text(parse(text)) for text, _ in EXAMPLES)
    words = {*Feature, *Pick, *Link, *(f"{at}_{kind}" for at in PairEnd for kind in ("count", "depth"))}
    assert not {word for word in words if word not in shown}
