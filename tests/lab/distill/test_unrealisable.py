from dataclasses import replace

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.errors import DeclarationError, InputError, InvalidError
from circuitproof.files.canonical import Digest, canonical_json
from circuitproof.files.reading import parse_json, reading
from circuitproof.find.choices import Objective
from circuitproof.programs.candidates import Grammar, NamedOperand
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.syntax import Otherwise
from circuitproof.programs.text import parse
from circuitproof_lab.distill.decide import WrongDecision
from circuitproof_lab.distill.decision_target import targets_of
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.synthesis import Bounds
from circuitproof_lab.distill.synthesise import accepts, freeze, synthesise
from circuitproof_lab.distill.unrealisable import read_unrealisable, recheck
from distractor_models import HEAD, distractor_model, neutral_quotes
from program_strategies import all_programs

TASK = neutral_quotes(3)
FROZEN = freeze(distractor_model())
GRAMMAR = Grammar(rules=2, features=(Feature.KEY_TOKEN,), members=1, otherwise=tuple(Otherwise))
WORDS = (NamedOperand(WordKind.TOKEN, 7), NamedOperand(WordKind.TOKEN, 6))
CERTIFICATE = synthesise(distractor_model(), [TASK], HEAD, {}, Bounds(grammar=GRAMMAR, words=WORDS)).outcome


def read(content):
    """Read a certificate from JSON."""
    with reading(content, "certificate") as fields:
        return read_unrealisable(fields)


def test_brute_force_agrees_that_no_program_will_do():
    """The twin lists every program, installs it and folds the whole domain; no meaning is missing."""
    targets = targets_of(FROZEN, [TASK], [[whole(FROZEN.graph)]], Objective.PROGRAM)
    prefix_table = PrefixTable(TASK.domain.prompts)
    programs = list(all_programs(CERTIFICATE.language))
    assert len(programs) == CERTIFICATE.language.program_count() == 2 * 21
    assert not any(accepts(FROZEN, HEAD, program, targets) for program in programs)
    meanings = {prefix_table.rows(program).tobytes() for program in programs}
    assert meanings == {prefix_table.rows(one.program).tobytes() for one in CERTIFICATE.refuted}
    assert len(meanings) == len(CERTIFICATE.refuted)


def test_a_certificate_is_read_back_and_accepted():
    """Its JSON is complete: nothing else is needed but the model and the task."""
    content = parse_json(canonical_json(CERTIFICATE.to_json()), "certificate")
    again = read(content)
    assert again.to_json() == CERTIFICATE.to_json()
    recheck(again, FROZEN, [TASK])


def without_first(certificate):
    """Leave one refuted meaning out."""
    return replace(certificate, refuted=certificate.refuted[1:])


def twice(certificate):
    """Refute one meaning twice and another never."""
    return replace(certificate, refuted=(*certificate.refuted[:-1], certificate.refuted[0]))


def larger(certificate):
    """Speak of a larger language."""
    words = (*certificate.language.words, NamedOperand(WordKind.TOKEN, 8))
    return replace(certificate, language=replace(certificate.language, words=words))


def other_digest(certificate):
    """State another list."""
    return replace(certificate, digest=Digest("0" * 64))


def other_lists(certificate):
    """Refute a program that is not in the language in the place of one that is."""
    program = parse("default 0\nadd 1 when key_position == 0\notherwise self")
    return replace(
        certificate, refuted=(*certificate.refuted[1:], replace(certificate.refuted[0], program=program))
    )


def elsewhere(refutation):
    """Say that the first meaning is refuted by another decision."""
    return lambda certificate: replace(
        certificate,
        refuted=(replace(certificate.refuted[0], refutation=refutation), *certificate.refuted[1:]),
    )


def right_somewhere(certificate):
    """Name a prompt that the program of some meaning decides as wanted."""
    targets = targets_of(FROZEN, [TASK], [[whole(FROZEN.graph)]], Objective.PROGRAM)
    for number, one in enumerate(certificate.refuted):
        for prompt in range(len(TASK.domain)):
            task = replace(
                TASK, domain=replace(TASK.domain, prompts=(TASK.domain.prompts[prompt],), strata=("",))
            )
            only = replace(targets[0], task=task, wanted=(targets[0].wanted[prompt],))
            if accepts(FROZEN, HEAD, one.program, [only]):
                changed = replace(one, refutation=replace(one.refutation, prompt=prompt))
                return replace(
                    certificate,
                    refuted=(*certificate.refuted[:number], changed, *certificate.refuted[number + 1 :]),
                )
    raise AssertionError("no program is right anywhere")


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (without_first, "the digests of the two lists must be the one it states"),
        (twice, "refutes a meaning twice"),
        (larger, "the digests of the two lists must be the one it states"),
        (other_digest, "the digests of the two lists must be the one it states"),
        (other_lists, "the digests of the two lists must be the one it states"),
        (right_somewhere, "as wanted; its program is not refuted there"),
        (elsewhere(WrongDecision(0, 0, 999)), "its task, circuit or prompt is not there"),
        (elsewhere(WrongDecision(1, 0, 0)), "its task, circuit or prompt is not there"),
        (elsewhere(WrongDecision(0, 1, 0)), "its task, circuit or prompt is not there"),
        (lambda it: replace(it, model=Digest("0" * 64)), "about another model"),
        (lambda it: replace(it, tasks=()), "about other tasks"),
        (lambda it: replace(it, circuits=()), "has 0 lists of circuits for 1 tasks"),
    ],
)
def test_a_forged_certificate_is_refused(forge, sentence):
    """Each forgery breaks one thing that the certificate says."""
    with pytest.raises(InvalidError, match=sentence):
        recheck(forge(CERTIFICATE), FROZEN, [TASK])


def test_a_certificate_is_about_one_model():
    """Another weight, another model."""
    other = distractor_model()
    other.token.data[0, 0] = 1
    with pytest.raises(InvalidError, match="about another model"):
        recheck(CERTIFICATE, freeze(other), [TASK])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"head": "mlp 0"}, "head is mlp 0, want a head"),
        ({"circuits": []}, "names no circuit"),
        ({"circuits": [[]]}, "names no circuit"),
        ({"programs": 3}, "programs is 3, but there are 42"),
        ({"meanings": 3}, "meanings is 3, but there are"),
        ({"refuted": [[0, 0]]}, "want task, circuit, prompt, fallback and known rules"),
        ({"refuted": [[0, 0, 0, 0, 99]]}, "want task, circuit, prompt, fallback and known rules"),
        ({"refuted": [[0, 0, 0, 5]]}, "want task, circuit, prompt, fallback and known rules"),
        ({"refuted": [[0, 0, -1, 0]]}, "want task, circuit, prompt, fallback and known rules"),
        ({"rules": ["add 1 when nonsense"] * 99}, "refuted"),
        ({"more": 1}, "more is not a known key"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(change, sentence):
    """With the place in the file."""
    with pytest.raises((InputError, DeclarationError), match=sentence):
        read({**CERTIFICATE.to_json(), **change})
