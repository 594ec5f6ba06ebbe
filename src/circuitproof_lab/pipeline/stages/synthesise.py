"""Programs for the heads of a circuit: floats propose them one by one, known decisions accept them."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import Digest, digest_json
from circuitproof.files.codec import to_json
from circuitproof.files.records import write_record
from circuitproof.files.run import Run
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Objective, Order
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import EdgeGroup
from circuitproof.find.prune import prune
from circuitproof.models.declaration import ProgramHeads
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.candidates import Grammar, NamedOperand, words_of
from circuitproof.programs.features import WordKind
from circuitproof.programs.lines import parse_lines, to_lines
from circuitproof.proof.arithmetic import bits_of
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Pace
from circuitproof.proof.inexact import in_its_arithmetic
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.tasks.rules import OnlyOpener
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.choices import Scope
from circuitproof_lab.distill.decision_target import DecisionTarget
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.lesion import Behaviour, silence
from circuitproof_lab.distill.propose import propose
from circuitproof_lab.distill.synthesis import Bounds
from circuitproof_lab.distill.synthesise import freeze
from circuitproof_lab.pipeline.protocol import ProgramBounds
from circuitproof_lab.records.programs import ACCEPTED, AGAIN, Accepted, HeadSearch

_ANY_DIVERGENCE = 1e9
"""Nothing but decisions is kept, so that any rise of the divergence is allowed."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The searches for all heads that a circuit reads, and what it decides with the programs found."""

    vocabulary: int
    searches: tuple[HeadSearch, ...]
    exact: int = 0
    """How many prompts the circuit of the programs is known to decide right, before calibration."""

    @property
    def programs(self) -> ProgramHeads:
        """Return the programs that were found."""
        return {
            one.head: parse_lines(one.program, str(one.head), self.vocabulary)
            for one in self.searches
            if one.program is not None
        }

    @property
    def digest(self) -> Digest:
        """Return the digest of what was found for each head."""
        return digest_json({str(one.head): to_json(one.program) for one in self.searches})

    def circuit_of(self, behaviour: Behaviour) -> Circuit:
        """Return the circuit without the heads that have no program."""
        neural = [one.head for one in self.searches if one.program is None]
        return silence(behaviour.circuit, neural).live()

    def programs_of(self, circuit: Circuit) -> ProgramHeads:
        """Return the programs of the heads that a circuit reads."""
        nodes = circuit.live().nodes()
        return {head: program for head, program in self.programs.items() if head in nodes}


def search_programs(run: Run, model: Transformer, behaviour: Behaviour, bounds: ProgramBounds) -> Installed:
    """Look for a program for each head that the circuit reads; each search has so many seconds.

    A head is searched for with the programs in place that were found before; one without a program stays
    neural meanwhile, and is no part of the circuit in the end. A finished search is not repeated.
    """
    task, found = behaviour.task, Installed(model.architecture.vocabulary, ())
    for head in behaviour.circuit.live().heads():
        search = partial(_search, install(model, found.programs), behaviour, head, bounds)
        name = f"program.{head.layer}.{head.index}.json"
        made = run.record(name, HeadSearch, search, f"{task.name}: a program for {head}")
        found = replace(found, searches=(*found.searches, made))
    return found


def decide_exactly(run: Run, model: Transformer, behaviour: Behaviour, found: Installed) -> Installed:
    """Return the same programs with how many prompts their circuit is known to decide right.

    Decisions are exact, or enclosed where the circuit has no exact value; one that stays open is not right.
    """
    task, circuit = behaviour.task, found.circuit_of(behaviour)
    if not found.programs or not reads_prompt(circuit, found.programs):
        return found

    def decide() -> Accepted:
        frozen = freeze(install(model, found.programs))
        battery = prove(in_its_arithmetic(Claim(frozen, circuit, task, (Equivalence(),))))
        (answer,) = battery.answers
        return Accepted(answer.met, task.size, bits_of(battery.claim.arithmetic))

    accepted = run.record(ACCEPTED, Accepted, decide, f"{task.name}: deciding with the programs")
    return replace(found, exact=accepted.exact)


def extract_again(run: Run, model: Transformer, behaviour: Behaviour, installed: Installed) -> Circuit:
    """Return the circuit of the programs without edges that no decision depends on, in floats.

    Heads that are dropped with their last edge keep no program: the model is changed as little as it can be.
    """

    def write(path: Path) -> None:
        programmed, start = install(model, installed.programs), installed.circuit_of(behaviour)
        meter = Meter(programmed, behaviour.task, Objective.PROGRAM)
        parts = [(edge,) for edge in start]
        order = arrange(meter, parts, Order.ATTRIBUTION)
        write_record(path, _pruned(meter, order, start))

    telling = f"{behaviour.task.name}: extracting again among the programs"
    return load_circuit(run.stage(AGAIN, write, telling))


def _pruned(meter: Meter, order: Sequence[EdgeGroup], circuit: Circuit) -> Circuit:
    """Take edges out in an order, again and again: what was needed may not be once others are gone."""
    left = [part for part in order if part[0] in circuit]
    smaller = prune(meter, left, Tolerance(_ANY_DIVERGENCE), start=circuit).circuit
    return circuit if len(smaller) == len(circuit) else _pruned(meter, order, smaller)


def _search(model: Transformer, behaviour: Behaviour, head: Head, within: ProgramBounds) -> HeadSearch:
    """Let floats propose a program with which the circuit decides every prompt right."""
    begin, task, grammar = time.perf_counter(), behaviour.task, within.grammar
    bounds = Bounds(scope=Scope.CIRCUIT, budget=sys.maxsize, grammar=grammar, words=_words(task, grammar))
    target = DecisionTarget(task, (behaviour.circuit,), task.decisions())
    found = propose(model, [target], head, bounds, Pace(begin + within.deadline, time.perf_counter))
    return HeadSearch(
        layer=head.layer,
        index=head.index,
        program=None if found.program is None else tuple(to_lines(found.program)),
        overlap=found.overlap,
        mean_support=found.record.mean_support,
        meanings=found.effort.meanings,
        tried=found.effort.tried,
        seconds=time.perf_counter() - begin,
    )


def _words(task: Task, grammar: Grammar) -> tuple[NamedOperand, ...]:
    """Return what conditions may name: of a task with openers these and what is near, else all that it has.

    Near are the first position, the query itself and the two positions before it.
    """
    every = words_of(task.prompts, grammar)
    if not isinstance(task.answer, OnlyOpener):
        return every
    openers = {NamedOperand(WordKind.TOKEN, opener) for opener, _ in task.answer.answers}
    near = {WordKind.POSITION: 1, WordKind.DISTANCE: 3, WordKind.TOKEN: 0}
    return tuple(word for word in every if word in openers or word.number < near[word.kind])
