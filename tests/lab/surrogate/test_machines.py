import pytest
from hypothesis import given

from circuitproof.errors import InputError
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.machines import TEMPLATES, StateMachine, find_template, ladder
from circuitproof_lab.surrogate.registers import Counter
from circuitproof_lab.surrogate.template import Fill, FilledTemplate, Signature, explore
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import (
    AB,
    NO_YES,
    SMALL,
    SMALL_SIGNATURE,
    all_words,
    count_programs,
    programs,
    twin_meanings,
)

QUOTES = Alphabet(('"', "'", "x"))
BRACKETS = Signature(Words(Alphabet(("[", "]", "x")), 1, 5), Alphabet(("x", "]", "]]")))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_template_means_what_plain_functions_on_words_say(template):
    """Every function that some program computes, and no other: against the twin that shares no code."""
    holes = template.holes(SMALL_SIGNATURE)
    found = {
        tuple(explore(template, Fill(zip(holes, choices, strict=True)), SMALL_SIGNATURE).row(SMALL).tolist())
        for choices in _every_choice(holes)
    }
    assert found == twin_meanings(template.name, 2, 2, all_words(2, 1, 4))


def _every_choice(holes):
    """Return each way to fill the holes; written out, so that nothing of the search is trusted."""
    ways = [()]
    for choices in holes.values():
        ways = [(*way, choice) for way in ways for choice in choices]
    return ways


def test_the_ladder_goes_from_small_to_large_and_counts_holes():
    """The size is how many choices a program makes."""
    steps = ladder(TEMPLATES, BRACKETS)
    sizes = [len(template.holes(BRACKETS)) for template in steps]
    assert sizes == sorted(sizes)
    assert (steps[0].name, sizes[0]) == ("constant", 1)
    assert (steps[-1].name, sizes[-1], count_programs(steps[-1], BRACKETS)) == ("machine 3", 12, 3**12)


def test_a_counter_with_more_thresholds_than_tokens_has_no_programs_and_no_place():
    """It could never be filled."""
    assert ladder([Counter(2)], Signature(Words(AB, 1, 1), NO_YES)) == ()


@pytest.mark.parametrize("name", [*(template.name for template in TEMPLATES), "counter 3", "machine 5"])
def test_a_template_is_found_by_its_name(name):
    """The name in a recipe is the name in a report."""
    assert find_template(name, "here").name == name


@pytest.mark.parametrize("name", ["machine 1", "machine", "counter 0", "stack", "machine 12"])
def test_a_template_that_is_not_there_is_refused(name):
    """The sentence lists what there is."""
    with pytest.raises(InputError, match=f"here: there is no template {name!r}; known: constant, last"):
        find_template(name, "here")


@given(programs())
def test_every_program_can_be_read_by_a_person(program):
    """A line for each thing it does; no line is empty."""
    assert program.lines
    assert all(line.strip() for line in program.lines)


def test_programs_read_as_they_work():
    """One of each kind that the studies show."""
    signature = Signature(Words(QUOTES, 1, 3), QUOTES)
    watched = {'on "': "hold", "on '": "hold", "on x": "ignore", "empty": "x"}
    answers = {'holding "': '"', "holding '": "'", "holding x": "x"}
    guards = {"holding, on the same": "forget", "holding, on another": "keep"}
    memory = FilledTemplate(find_template("memory", ""), signature, {**watched, **answers, **guards})
    assert memory.lines == (
        "memory, empty at first; while empty, on \" or ': hold",
        "while holding, on the same token: forget; on another of them: keep",
        "answer x when empty",
        'answer " when holding "',
        "answer ' when holding '",
    )
    moves = {"on [": "up", "on ]": "down", "on x": "stay", "thresholds": "1 2"}
    levels = {"level 0": "x", "level 1": "]", "level 2": "]]"}
    assert FilledTemplate(Counter(2), BRACKETS, {**moves, **levels}).lines == (
        "count, 0 at first, never below; on [: up; on ]: down",
        "answer ]] when the count is at least 2",
        "answer ] when the count is at least 1",
        "answer x otherwise",
    )
    idle = {hole: choices[0] for hole, choices in StateMachine(2).holes(SMALL_SIGNATURE).items()}
    assert (
        FilledTemplate(StateMachine(2), SMALL_SIGNATURE, idle).lines[0]
        == "state 0: answer no; on a: to 0; on b: to 0"
    )
