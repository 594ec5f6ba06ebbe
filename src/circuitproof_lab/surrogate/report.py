"""The record of what a study of a surrogate found."""

from circuitproof.files.canonical import Digest
from circuitproof_lab.records.surrogate import (
    Closed,
    Disproof,
    GivenUpProgram,
    SurrogateReport,
    TestedProgram,
)
from circuitproof_lab.surrogate.equivalence import WordCounterexample, describe
from circuitproof_lab.surrogate.refutation import Refutation
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.study import SurrogateStudy, Tested
from circuitproof_lab.surrogate.synthesis import CandidateTrial


def report_of(study: SurrogateStudy, relation: Relation, data: int, surrogate: Digest) -> SurrogateReport:
    """Return the record of a study, whose surrogate has weights of this digest."""
    return SurrogateReport(
        name=relation.name,
        basis=relation.basis,
        teacher_digest=relation.digest,
        surrogate_digest=surrogate,
        words=len(relation.words),
        surrogate_agreed=study.surrogate_agreed,
        data=data,
        explanation=None if study.explanation is None else _account(study.explanation, relation),
        repair=None if study.repair is None else _account(study.repair, relation),
        closed=tuple(map(_closed, study.refutations)),
        given_up=tuple(map(_given_up, study.trials)),
        open_template=None if study.stopped is None else study.stopped.template.name,
        verdict=study.verdict,
    )


def _account(tested: Tested, relation: Relation) -> TestedProgram:
    program, found = tested.program, tested.equivalence
    return TestedProgram(
        template=program.template.name,
        choices=program.choices,
        lines=program.lines,
        agreed=tested.agreed,
        verdict=found.verdict,
        replies={name: describe(reply) for name, reply in found.replies.items()},
        disproof=None if found.counterexample is None else _disproof(found.counterexample, relation),
    )


def _disproof(found: WordCounterexample, relation: Relation) -> Disproof:
    names = relation.answers.names
    return Disproof(
        tokens=found.word,
        text=relation.words.tokens.text(found.word),
        program=names[found.program],
        surrogate=tuple(names[answer] for answer in sorted(found.surrogate)),
        teacher=names[relation.answer(found.word)],
    )


def _closed(refutation: Refutation) -> Closed:
    meanings = None if refutation.meanings is None else len(refutation.meanings)
    return Closed(refutation.template.name, refutation.programs, meanings, refutation.leaves)


def _given_up(trial: CandidateTrial) -> GivenUpProgram:
    return GivenUpProgram(trial.program.template.name, trial.program.choices, trial.word)
