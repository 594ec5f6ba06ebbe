import copy
import json
import re

import pytest

from circuitproof.errors import InputError
from circuitproof.files.reading import parse_json, read_json, reading
from circuitproof.programs.release import read_release_program
from circuitproof.programs.text import to_text
from places import REFERENCE

RELEASED = REFERENCE / "program_healed" / "programs.json"

SAMPLE = parse_json(
    b"""{
  "dsl_version": 1,
  "name": "openers",
  "default_weight": "0",
  "rules": [
    {"weight": "1", "conditions": [
      {"feature": "key_token", "operator": "in", "value": [705, 366]},
      {"feature": "relative_distance", "operator": "<=", "value": 3}]},
    {"weight": "1/2", "conditions": [{"feature": "token_match", "operator": "==", "value": true}]},
    {"weight": "0.25", "conditions": []}
  ]
}""",
    "sample",
)
SAMPLE_TEXT = """\
default 0
add 1 when key_token in {366, 705} and relative_distance <= 3
add 1/2 when token_match
add 1/4
otherwise self
"""


def read(content):
    """Read one program to its last key."""
    with reading(content, "sample") as fields:
        return read_release_program(fields)


def with_condition(**changes):
    """Return the sample with its first condition changed."""
    content = copy.deepcopy(SAMPLE)
    content["rules"][0]["conditions"][0].update(changes)
    return content


def test_a_release_program_is_read_as_written():
    """Rules, sets, truth values and rationals all arrive; rows without weight attend to themselves."""
    assert to_text(read(SAMPLE)) == SAMPLE_TEXT


def test_the_released_programs_are_read():
    """The published artifact is what must be reproduced."""
    if not RELEASED.exists():
        pytest.skip(f"the released programs are not at {RELEASED}")
    content = read_json(RELEASED)
    texts = {head: to_text(read(program)).splitlines()[1:-1] for head, program in content.items()}
    assert texts == {
        "0.0": ["add 1 when relative_distance == 1"],
        "0.1": ["add 1 when relative_distance <= 3", "add 1 when key_position == 3"],
        "1.1": ["add 1 when key_position == 3", "add 1 when key_position == 2"],
    }


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dsl_version": 2}, "sample.dsl_version is 2, want 1, the only one that is known"),
        ({"default_weight": "-1"}, "sample.default_weight is -1, want at least 0"),
        ({"default_weight": "much"}, "sample.default_weight is 'much', want a rational"),
        ({"name": 3}, "sample.name is the number 3, want a string"),
        (
            {"rules": [{"weight": "-1/2", "conditions": []}]},
            "sample.rules[0].weight is -1/2, want at least 0",
        ),
        ({"rules": [{"weight": "1", "conditions": [], "or": []}]}, "sample.rules[0].or is not a known key"),
        ({"fallback": "self"}, "sample.fallback is not a known key"),
    ],
)
def test_a_program_that_is_not_understood_is_refused(change, sentence):
    """A part that is ignored or guessed would be another program than the released one."""
    with pytest.raises(InputError, match=re.escape(sentence)):
        read({**SAMPLE, **change})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"feature": "value"}, ".feature is 'value', want one of 'key_position'"),
        ({"operator": "~"}, ".operator is '~', want one of '=='"),
        ({"value": 366}, ".value is the number 366, want a list"),
        ({"value": ["a"]}, ".value[0] is the string 'a', want a whole number"),
        ({"value": [3, 3]}, ": condition 'key_token in ...': (3, 3), want increasing numbers, each once"),
        ({"operator": "<", "value": 5}, ": condition 'key_token < ...': tokens have no order"),
        ({"operator": "==", "value": -5}, ".value is -5, want at least 0"),
        (
            {"feature": "token_match", "operator": "==", "value": 1},
            ".value is the number 1, want true or false",
        ),
        ({"feature": "token_match", "value": [1]}, ": condition 'token_match in ...': 'in' is not for it"),
    ],
)
def test_a_condition_without_meaning_is_refused_at_its_place(change, sentence):
    """The sentence leads to the line of the file to mend."""
    with pytest.raises(InputError, match=re.escape(f"sample.rules[0].conditions[0]{sentence}")):
        read(with_condition(**change))


@pytest.mark.parametrize("key", ["dsl_version", "name", "default_weight", "rules"])
def test_every_part_of_a_program_must_be_there(key):
    """Nothing has a silent default."""
    content = json.loads(json.dumps(SAMPLE))
    del content[key]
    with pytest.raises(InputError, match=re.escape(f"sample.{key} is missing")):
        read(content)
