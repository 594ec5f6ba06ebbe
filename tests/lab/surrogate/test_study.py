from dataclasses import replace

import pytest
from safetensors.torch import load

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.files.codec import Codec, to_json
from circuitproof.files.reading import reading
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.cvc5 import Cvc5
from circuitproof.solvers.z3 import Z3
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.records.surrogate import SurrogateReport
from circuitproof_lab.surrogate.equivalence import Examiners
from circuitproof_lab.surrogate.fitting import Fitting, exact_network, fit_network
from circuitproof_lab.surrogate.machines import TEMPLATES, ladder
from circuitproof_lab.surrogate.network import Network, NetworkShape
from circuitproof_lab.surrogate.registers import Constant
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.report import report_of
from circuitproof_lab.surrogate.study import StudyPlan, run_study
from circuitproof_lab.surrogate.template import FilledTemplate
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import NO_YES, SMALL, SMALL_SIGNATURE, automaton_teacher, relation_of

FITTING = Fitting(hidden=(16,), steps=2000, learning_rate=0.02, attempts=5, seed=1)
SHORT = tuple(word for word in SMALL if len(word) <= 2)
PLAN = StudyPlan(templates=ladder(TEMPLATES, SMALL_SIGNATURE), data=SHORT, budget=10_000)
EVER_TWICE = automaton_teacher([(0, 1), (1, 2), (2, 2)], [0, 0, 1])
"""Yes from the second b on, wherever it stands."""
DIGEST = digest_bytes(b"weights")
PALINDROMES = relation_of("palindromes", SMALL, NO_YES, lambda word: int(word == word[::-1]))


def surrogate_of(relation: Relation) -> Network:
    """Return a fitted surrogate."""
    fitted = fit_network(relation, FITTING)
    return exact_network(fitted.shape, load(fitted.weights))


@pytest.fixture
def study(tmp_path):
    """Return a function that studies a teacher through a fitted surrogate."""

    def run(relation, plan=PLAN):
        examiners = Examiners((Z3(), Cvc5()), 20, tmp_path / "dispute.smt2")
        return run_study(relation, surrogate_of(relation), plan, examiners)

    return run


def read_back(report):
    """Write a report and read it again."""
    with reading(to_json(report), "report") as fields:
        return Codec().record(SurrogateReport, fields)


def test_an_explanation_that_holds_is_proved_at_once(study):
    """Data up to two tokens is enough for the smallest program that counts to two."""
    found = study(EVER_TWICE, replace(PLAN, data=tuple(SMALL)))
    assert found.verdict is Verdict.PROVED
    assert found.explanation is not None
    assert found.explanation.agreed == len(SMALL)
    assert found.repair is None
    report = report_of(found, EVER_TWICE, len(SMALL), DIGEST)
    assert report.outcome == "compact program certified"
    assert read_back(report) == report


def test_an_explanation_that_agrees_with_all_its_data_can_still_be_wrong(study):
    """What it shows: on short words "the last two are b" is explained otherwise; a word of D refutes that."""
    both = relation_of("both", SMALL, NO_YES, lambda word: int(word[-2:] == (1, 1)))
    found = study(both, replace(PLAN, data=((0,), (1,), (1, 1), (0, 0))))
    assert found.explanation is not None
    assert found.repair is not None
    assert found.explanation.agreed == 4
    assert found.explanation.equivalence.verdict is Verdict.REFUTED
    assert found.repair.equivalence.verdict is Verdict.PROVED
    assert len(found.repair.program.choices) >= len(found.explanation.program.choices)
    word = found.explanation.equivalence.counterexample.word
    assert found.explanation.program.automaton.answer(word) != both.answer(word)
    assert found.verdict is Verdict.PROVED
    report = report_of(found, both, 4, DIGEST)
    assert (
        report.outcome
        == f"counterexample returned; repaired by {found.repair.program.template.name} and proved"
    )
    assert report.explanation.disproof.text == SMALL.tokens.text(word)
    assert report.explanation.disproof.teacher == NO_YES.names[both.answer(word)]
    assert read_back(report) == report


def test_a_teacher_outside_the_family_refutes_all_of_it(study):
    """Every template comes with its certificate."""
    found = study(PALINDROMES)
    assert found.verdict is Verdict.REFUTED
    assert [one.template for one in found.refutations] == list(PLAN.templates)
    report = report_of(found, PALINDROMES, len(SHORT), DIGEST)
    assert report.outcome == "counterexample returned; no program of the family repairs it"
    assert read_back(report) == report


def test_data_that_no_program_explains_need_no_surrogate_to_refute_the_family(study):
    """The data are part of the domain."""
    found = study(PALINDROMES, replace(PLAN, templates=(Constant(),)))
    assert (found.explanation, found.verdict) == (None, Verdict.REFUTED)
    report = report_of(found, PALINDROMES, len(SHORT), DIGEST)
    assert report.outcome == "no program in the family"
    assert read_back(report) == report


def test_a_search_cut_short_is_undecided(study):
    """While fitting, and while repairing."""
    machines = tuple(template for template in PLAN.templates if template.name.startswith("machine"))
    fitting = study(PALINDROMES, replace(PLAN, templates=machines, budget=2))
    assert (fitting.explanation, fitting.verdict) == (None, Verdict.UNDECIDED)
    report = report_of(fitting, PALINDROMES, len(SHORT), DIGEST)
    assert report.outcome == "search stopped in machine 2"
    assert read_back(report) == report
    idle = FilledTemplate(Constant(), SMALL_SIGNATURE, {"always": "no"})
    repairing = study(PALINDROMES, replace(PLAN, templates=machines, budget=2, hypothesis=idle))
    assert repairing.explanation is not None
    assert repairing.verdict is Verdict.UNDECIDED
    report = report_of(repairing, PALINDROMES, len(SHORT), DIGEST)
    assert report.outcome == "counterexample returned; the search for a repair stopped in machine 2"


def test_a_proposed_explanation_is_tested_as_it_is(study):
    """Also one that does not agree with all of its data; a smaller template may repair it."""
    idle = FilledTemplate(Constant(), SMALL_SIGNATURE, {"always": "no"})
    found = study(EVER_TWICE, replace(PLAN, hypothesis=idle))
    assert found.explanation is not None
    assert found.repair is not None
    assert (found.explanation.program, found.explanation.agreed) == (idle, len(SHORT) - 1)
    assert found.explanation.equivalence.verdict is Verdict.REFUTED
    assert found.repair.equivalence.verdict is Verdict.PROVED


def test_a_surrogate_that_misses_a_word_gives_no_verdict(tmp_path):
    """A proof about it would say nothing about the teacher."""
    other = Relation("other", SMALL, NO_YES, (1 - EVER_TWICE.decided[0], *EVER_TWICE.decided[1:]))
    examiners = Examiners((), 20, tmp_path / "dispute.smt2")
    with pytest.raises(InputError, match="agrees with teacher 'other' on 29 of 30 words, want all"):
        run_study(other, surrogate_of(EVER_TWICE), PLAN, examiners)


def test_a_surrogate_of_other_words_gives_no_verdict(tmp_path):
    """An alphabet mismatch."""
    words = Words(Alphabet(("a", "c")), 1, 4)
    other = Relation("other", words, NO_YES, EVER_TWICE.decided)
    network = surrogate_of(EVER_TWICE)
    assert network.shape == NetworkShape(SMALL, NO_YES, (16,))
    with pytest.raises(InputError, match="different alphabets"):
        run_study(other, network, PLAN, Examiners((), 20, tmp_path / "dispute.smt2"))
