"""A study of one teacher: fit an explanation to data, prove or refute it, repair what is refuted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from circuitproof.errors import InputError
from circuitproof.files.codec import PositiveInt
from circuitproof.proof.verdict import Verdict
from circuitproof_lab.surrogate.equivalence import EquivalenceReplies, Examiners, compare
from circuitproof_lab.surrogate.network import Network, measure_fidelity
from circuitproof_lab.surrogate.refutation import Refutation, certify
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.synthesis import CandidateTrial, GaveUp, Oracle, synthesise
from circuitproof_lab.surrogate.template import FilledTemplate, ProgramTemplate
from circuitproof_lab.surrogate.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What is fixed before a study begins."""

    templates: tuple[ProgramTemplate, ...]
    """Smallest first."""
    data: tuple[Word, ...]
    """The finite dataset that the explanation is fitted to."""
    budget: PositiveInt = 100_000
    """The most partial programs that are looked at in a template."""
    hypothesis: FilledTemplate | None = None
    """An explanation that somebody proposes; without one, the smallest that agrees with the data."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A program, on how much of the data it agrees with the teacher, and what was proved of it."""

    program: FilledTemplate
    agreed: int
    equivalence: EquivalenceReplies


@dataclass(frozen=True, slots=True)
class SurrogateStudy:
    """What a study found. The surrogate agrees with the teacher on every word, else there is no study."""

    surrogate_agreed: int
    explanation: Tested | None = None
    """The proposed program, or the smallest that agrees with the data; none where the family has none."""
    repair: Tested | None = None
    """Where the explanation is refuted, the smallest program that agrees everywhere, if there is one."""
    refutations: tuple[Refutation, ...] = ()
    """The templates of which every program is refuted."""
    trials: tuple[CandidateTrial, ...] = ()
    """The programs that agreed with every example known at the time, with what then refuted them."""
    stopped: GaveUp | None = None
    """Where the search reached its budget, which leaves that template and the larger ones open."""

    @property
    def verdict(self) -> Verdict:
        """Say whether some program is proved equal to the teacher; refuted: the family has none."""
        for tested in (self.explanation, self.repair):
            if tested is not None and tested.equivalence.verdict is Verdict.PROVED:
                return Verdict.PROVED
        is_open = self.stopped is not None or self.repair is not None
        return Verdict.UNDECIDED if is_open else Verdict.REFUTED


def run_study(relation: Relation, network: Network, plan: StudyPlan, examiners: Examiners) -> SurrogateStudy:
    """Test an explanation of a teacher through its surrogate, which must agree with it on every word."""
    if (agreed := measure_fidelity(network, relation)) != len(relation.words):
        raise InputError(
            f"the surrogate agrees with teacher {relation.name!r} on {agreed} of {len(relation.words)} "
            f"words, want all: a verdict on it would say nothing about the teacher"
        )
    teaching = _Teaching(relation, network, plan, examiners)
    study, program, larger = SurrogateStudy(agreed), plan.hypothesis, plan.templates
    if program is None:
        study, program = teaching.search(study, teaching.wrong_on_data, plan.templates)
        if program is None:
            return study
        larger = larger[larger.index(program.template) :]
    return teaching.test(study, program, larger)


@dataclass(frozen=True, slots=True)
class _Teaching:
    """The teacher and all that a study works with."""

    relation: Relation
    network: Network
    plan: StudyPlan
    examiners: Examiners

    def test(
        self, study: SurrogateStudy, program: FilledTemplate, larger: Sequence[ProgramTemplate]
    ) -> SurrogateStudy:
        """Prove or refute a program, and look for a repair among `larger` templates where it is refuted."""
        tested = self._examine(program)
        study = replace(study, explanation=tested)
        if (found := tested.equivalence.counterexample) is None:
            return study
        examples = [*(trial.word for trial in study.trials), found.word]
        study, repair = self.search(study, self._wrong_anywhere, larger, examples)
        return study if repair is None else replace(study, repair=self._examine(repair))

    def search(
        self,
        study: SurrogateStudy,
        oracle: Oracle,
        templates: Sequence[ProgramTemplate],
        examples: Sequence[Word] = (),
    ) -> tuple[SurrogateStudy, FilledTemplate | None]:
        """Look for a program, and add what was refuted on the way, each template with its certificate."""
        found = synthesise(self.relation, oracle, templates, examples, self.plan.budget)
        certified = (certify(one, self.relation) for one in found.exhausted)
        study = replace(
            study,
            refutations=(*study.refutations, *certified),
            trials=(*study.trials, *found.trials),
            stopped=found.outcome if isinstance(found.outcome, GaveUp) else None,
        )
        return study, found.outcome if isinstance(found.outcome, FilledTemplate) else None

    def wrong_on_data(self, program: FilledTemplate) -> Word | None:
        """Return the first word of the data on which a program disagrees with the teacher."""
        return next((word for word in self.plan.data if not self._agrees(program, word)), None)

    def _wrong_anywhere(self, program: FilledTemplate) -> Word | None:
        words = self.relation.words
        wrong = np.flatnonzero(program.automaton.row(words) != np.array(self.relation.decided))
        return words.word(int(wrong[0])) if wrong.size else None

    def _examine(self, program: FilledTemplate) -> Tested:
        agreed = sum(self._agrees(program, word) for word in self.plan.data)
        return Tested(program, agreed, compare(program, self.network, self.examiners))

    def _agrees(self, program: FilledTemplate, word: Word) -> bool:
        return program.automaton.answer(word) == self.relation.answer(word)
