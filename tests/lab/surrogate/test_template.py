import pytest
from hypothesis import given

from circuitproof.errors import InputError
from circuitproof.files.reading import reading
from circuitproof_lab.surrogate.machines import read_program
from circuitproof_lab.surrogate.registers import Toggle
from circuitproof_lab.surrogate.template import Fill, OpenHoleError, run
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import SMALL, SMALL_SIGNATURE, programs

FLIP = {"on a": "flip", "on b": "stay", "even": "no", "odd": "yes"}


@given(programs())
def test_the_automaton_answers_every_word_as_a_run_does(program):
    """The meaning is exact on the whole domain, word by word and all at once."""
    expected = [run(program.template, Fill(program.choices), SMALL_SIGNATURE, word) for word in SMALL]
    assert [program.automaton.answer(word) for word in SMALL] == expected
    assert program.automaton.row(SMALL).tolist() == expected


@given(programs())
def test_a_row_begins_with_the_shortest_words(program):
    """Shorter ones are walked through and left out."""
    words = Words(SMALL.tokens, 3, 4)
    assert program.automaton.row(words).tolist() == [program.automaton.answer(word) for word in words]


@given(programs())
def test_a_program_is_read_back_as_it_was_written(program):
    """A recipe can propose what a report shows."""
    with reading(program.to_json(), "program") as fields:
        assert read_program(fields, SMALL_SIGNATURE) == program


def test_a_run_stops_at_the_first_hole_that_it_reads():
    """Holes that a run does not read do not matter to it."""
    with pytest.raises(OpenHoleError, match="on a"):
        run(Toggle(), Fill(even="no"), SMALL_SIGNATURE, (0,))
    assert run(Toggle(), Fill({"on b": "stay", "even": "yes"}), SMALL_SIGNATURE, (1, 1)) == 1


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({**FLIP, "on a": "up"}, "'on a' is 'up', want one of"),
        ({key: FLIP[key] for key in FLIP if key != "odd"}, "'odd' is None, want one of"),
        ({**FLIP, "on c": "flip"}, "'on c' is not one of its holes"),
    ],
)
def test_a_program_with_a_hole_or_too_much_is_refused(choices, sentence):
    """Holding one is proof that it is whole."""
    content, wanted = {"template": "toggle", "choices": choices}, f"rule: program toggle: {sentence}"
    with pytest.raises(InputError, match=wanted), reading(content, "rule") as fields:
        read_program(fields, SMALL_SIGNATURE)
