"""A study of one teacher: fit an explanation to data, prove or refute it, repair what is refuted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from circuitproof.errors import InputError
from circuitproof.lab.surrogate.equivalence import Equivalence, Examiners, compare
from circuitproof.lab.surrogate.network import Fidelity, Network, measure_fidelity
from circuitproof.lab.surrogate.refutation import Refutation, certify
from circuitproof.lab.surrogate.relation import Relation
from circuitproof.lab.surrogate.synthesis import Found, GaveUp, Specification, Synthesis, Trial, synthesise
from circuitproof.lab.surrogate.template import FilledTemplate, Template
from circuitproof.lab.surrogate.words import Word
from circuitproof.prove.verdict import Verdict
from circuitproof.text.codec import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What is fixed before a study begins."""

    templates: tuple[Template, ...]
    """Smallest first."""
    data: tuple[Word, ...]
    """The finite dataset that the explanation is fitted to."""
    budget: Count = 100_000
    """The most partial programs that are looked at in a template."""
    hypothesis: FilledTemplate | None = None
    """An explanation that somebody proposes; without one, the smallest that agrees with the data."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A program, on how much of the data it agrees with the teacher, and what was proved of it."""

    program: FilledTemplate
    agreed: int
    equivalence: Equivalence


@dataclass(frozen=True, slots=True)
class Study:
    """What a study found. The surrogate agrees with the teacher on every word, else there is no study."""

    fidelity: Fidelity
    explanation: Tested | None
    """The proposed program, or the smallest that agrees with the data; none where the family has none."""
    repair: Tested | None = None
    """Where the explanation is refuted, the smallest program that agrees everywhere, if there is one."""
    refutations: tuple[Refutation, ...] = ()
    """The templates of which every program is refuted."""
    trials: tuple[Trial, ...] = ()
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


def run_study(relation: Relation, network: Network, plan: StudyPlan, examiners: Examiners) -> Study:
    """Test an explanation of a teacher through its surrogate, which must agree with it on every word."""
    fidelity = measure_fidelity(network, relation)
    if not fidelity.is_complete:
        raise InputError(
            f"the surrogate agrees with teacher {relation.name!r} on {fidelity.agreed} of {fidelity.words} "
            f"words, want all: a verdict on it would say nothing about the teacher"
        )
    teaching = _Teaching(relation, network, plan, examiners)
    if plan.hypothesis is not None:
        return teaching.test(Study(fidelity, None), plan.hypothesis, plan.templates)
    fitted = synthesise(
        Specification(relation.signature, relation.answer, teaching.wrong_on_data),
        plan.templates,
        budget=plan.budget,
    )
    study = teaching.record(Study(fidelity, None), fitted)
    if not isinstance(fitted.outcome, Found):
        return study
    program = fitted.outcome.program
    return teaching.test(study, program, plan.templates[plan.templates.index(program.template) :])


@dataclass(frozen=True, slots=True)
class _Teaching:
    """The teacher and all that a study works with."""

    relation: Relation
    network: Network
    plan: StudyPlan
    examiners: Examiners

    def test(self, study: Study, program: FilledTemplate, larger: Sequence[Template]) -> Study:
        """Prove or refute a program, and look for a repair among `larger` templates where it is refuted."""
        tested = self._examine(program)
        study = replace(study, explanation=tested)
        if (found := tested.equivalence.counterexample) is None:
            return study
        examples = [*(trial.word for trial in study.trials), found.word]
        wanted = Specification(self.relation.signature, self.relation.answer, self._wrong_anywhere)
        repaired = synthesise(wanted, larger, examples, self.plan.budget)
        study = self.record(study, repaired)
        if isinstance(repaired.outcome, Found):
            study = replace(study, repair=self._examine(repaired.outcome.program))
        return study

    def record(self, study: Study, found: Synthesis) -> Study:
        """Add what a search refuted on its way, each template with its certificate."""
        certified = (certify(one, self.relation) for one in found.exhausted)
        return replace(
            study,
            refutations=(*study.refutations, *certified),
            trials=(*study.trials, *found.trials),
            stopped=found.outcome if isinstance(found.outcome, GaveUp) else None,
        )

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
