"""Circuits as terms: the forward pass itself, run on terms, says what their logits are."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Head, Mlp, Node
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.exact.exact import Exact, Witness
from circuitproof.exact.grid import Grid
from circuitproof.forward.cells import Cells
from circuitproof.forward.forward import Forward, Side
from circuitproof.forward.frozen import Frozen
from circuitproof.prove.balls.disturbed import Disturbed, Entry
from circuitproof.solvers.arithmetic import SumRows, Symbolic, Value, Weights
from circuitproof.solvers.assertions import Assertion, AssertionLog, Naming, Source
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.pieces import Unknowns
from circuitproof.solvers.terms import Sum, Variable

Logits: TypeAlias = tuple[Sum, ...]
"""The candidates' logits of one prompt, in their order."""


@dataclass(frozen=True, slots=True)
class Model:
    """What is encoded: a frozen model, its candidates, and how its branches are treated."""

    frozen: Frozen
    candidates: tuple[int, ...]
    branching: Branching = Branching.KEPT


@dataclass(frozen=True, slots=True)
class Encoding:
    """The logits of circuits on prompts as terms, and all that is asserted of their variables."""

    log: AssertionLog
    logits: Mapping[Circuit, tuple[Logits, ...]]
    """For each circuit, the logits of each prompt."""


@dataclass(frozen=True, slots=True)
class Ball:
    """A prompt's logits with and without a perturbation, and the variables of the perturbation."""

    log: AssertionLog
    undisturbed: Logits
    disturbed: Logits
    eta: tuple[Variable, ...]
    bounds: tuple[Assertion, ...]


def encode(model: Model, circuits: Sequence[Circuit], prompts: Sequence[Prompt]) -> Encoding:
    """Return circuits on prompts with every intermediate number, constants included, as a variable."""
    cells = Cells(model.frozen.programs, biases=model.frozen.architecture.biases)
    rows = {circuit: cells.cells(circuit, prompts) for circuit in circuits}
    arithmetic = Symbolic(AssertionLog(Naming.EVERYTHING))
    run = _Run(model.frozen, cells, model.candidates, ())
    if model.branching is Branching.TRACED:
        arithmetic.trace = iter(run.witnesses())
    outputs = run.symbolic(arithmetic, {})
    logits = {
        circuit: tuple(outputs[stage][row] for row in found) for circuit, (stage, found) in rows.items()
    }
    return Encoding(arithmetic.log, logits)


def encode_ball(prompt: Disturbed, epsilon: Fraction, branching: Branching) -> Ball:
    """Return a prompt's logits under every perturbation of at most `epsilon` per coordinate.

    What the perturbation does not reach stays known, and comparisons that come out alike all over the ball
    are decided at once. The ball itself is asserted.
    """
    arithmetic = Symbolic(AssertionLog(Naming.BRANCHES), Unknowns.IMPLIED)
    run = _Run(prompt.frozen, prompt.cells, prompt.candidates, prompt.outputs)
    before = run.symbolic(arithmetic, {})
    eta = tuple(arithmetic.log.terms.variable("eta") for _ in range(prompt.variables))
    bounds = _bounded(arithmetic.log, eta, epsilon)
    if branching is Branching.TRACED:
        arithmetic.trace = iter(run.witnesses())
    after = run.symbolic(arithmetic, _added(prompt, arithmetic.log, eta))
    row = prompt.row
    return Ball(arithmetic.log, before[-1][row], after[-1][row], eta, bounds)


@dataclass(frozen=True, slots=True)
class _Run:
    """A forward pass of which the first outputs are known."""

    frozen: Frozen
    cells: Cells
    candidates: tuple[int, ...]
    known: tuple[Grid, ...]

    def witnesses(self) -> list[Witness]:
        """Return the branches that the exact engine takes in the stages that are not known."""
        exact = Exact()
        Forward(self.frozen, self.cells, exact, self.candidates).run(self.known)
        return exact.witnesses

    def symbolic(self, arithmetic: Symbolic, added: Mapping[tuple[int, Side], Value]) -> list[SumRows]:
        """Return every stage's output as terms, stage by stage, so that each knows what it is part of."""
        outputs: list[Value] = list(self.known)
        for number in range(len(outputs), len(self.cells.stages)):
            arithmetic.source = _source(self.cells.stages[number].node)
            part = copy(self.cells)
            part.stages = self.cells.stages[: number + 1]
            forward: Forward[Value, Weights] = Forward(self.frozen, part, arithmetic, self.candidates, added)
            outputs = forward.run(outputs)
        return [arithmetic.sums(output) for output in outputs]


def _source(node: Node) -> Source:
    match node:
        case Head():
            return Source.ATTENTION
        case Mlp():
            return Source.MLP
        case _:
            return Source.DECISION


def _bounded(log: AssertionLog, eta: Sequence[Variable], epsilon: Fraction) -> tuple[Assertion, ...]:
    """Return that every coordinate is at most epsilon either way, and let comparisons make use of it."""
    terms, limit = log.terms, log.terms.number(epsilon)
    sides = [terms.of(one, Fraction(sign)) for one in eta for sign in (1, -1)]
    bounds = tuple(Assertion(terms.at_least(limit, side), Source.DECISION) for side in sides)
    terms.ranges.update(dict.fromkeys(eta, (-epsilon, epsilon)))
    return bounds


def _added(prompt: Disturbed, log: AssertionLog, eta: Sequence[Variable]) -> dict[tuple[int, Side], Value]:
    """Return the rows that a perturbation adds to the stages where it enters."""
    width = prompt.frozen.architecture.width
    blocks = [tuple(map(log.terms.of, eta[k : k + width])) for k in range(0, len(eta), width)]
    zero = (log.terms.number(Fraction(0)),) * width
    return {(entry.stage, entry.side): _rows(entry, blocks, zero) for entry in prompt.entries}


def _rows(entry: Entry, blocks: Sequence[Logits], zero: Logits) -> SumRows:
    return tuple(blocks[entry.rows[row]] if row in entry.rows else zero for row in range(entry.count))
