"""Circuits as terms: the forward pass itself, run on terms, says what their logits are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from circuitproof.arithmetic.exact import Exact, Witness
from circuitproof.arithmetic.grid import Grid, Row
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head, Mlp, Port
from circuitproof.forward.cells import StageTarget
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.prompts import PromptCells, ablation_of
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.regions.disturbed import Disturbed
from circuitproof.solvers.arithmetic import SumRows, Symbolic, SymbolicValue, WeightRows
from circuitproof.solvers.assertions import Assertion, AssertionLog, AssertionSource, Naming
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.pieces import Unknowns
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import Sum, Variable
from circuitproof.tasks.domain import Prompt

LogitSums: TypeAlias = tuple[Sum, ...]
"""The candidates' logits of one prompt, in their order."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """The logits of circuits on prompts as terms, and all that is asserted of their variables."""

    log: AssertionLog
    logits: Mapping[Circuit, tuple[LogitSums, ...]]
    """For each circuit, the logits of each prompt."""


@dataclass(frozen=True, slots=True)
class Ball:
    """A prompt's logits with and without a perturbation, and the variables of the perturbation."""

    log: AssertionLog
    undisturbed: LogitSums
    disturbed: LogitSums
    eta: tuple[Variable, ...]
    bounds: tuple[Assertion, ...]


def encode(  # noqa: PLR0913  # circuits on prompts, how, and until when
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuits: Sequence[Circuit],
    prompts: Sequence[Prompt],
    branching: Branching = Branching.KEPT,
    *,
    pace: Pace = UNHURRIED,
) -> Encoding:
    """Return circuits on prompts with every intermediate number, constants included, as a variable."""
    cells = PromptCells(frozen, ablation_of(circuits))
    rows = {circuit: cells.cells(circuit, prompts) for circuit in circuits}
    arithmetic = Symbolic(AssertionLog(Naming.EVERYTHING, TermTable(pace)))
    if branching is Branching.TRACED:
        arithmetic.trace = _branches(lambda exact: Forward(frozen, cells, exact, candidates), {})
    outputs = _symbolic(Forward(frozen, cells, arithmetic, candidates), arithmetic, {})
    logits = {one: tuple(outputs[stage][row] for row in found) for one, (stage, found) in rows.items()}
    return Encoding(arithmetic.log, logits)


def encode_ball(prompt: Disturbed, epsilon: Fraction, branching: Branching, pace: Pace = UNHURRIED) -> Ball:
    """Return a prompt's logits under every perturbation of at most `epsilon` per coordinate.

    What the perturbation does not reach stays known, and comparisons that come out alike all over the ball
    are decided at once. The ball itself is asserted.
    """
    arithmetic = Symbolic(AssertionLog(Naming.BRANCHES, TermTable(pace)), Unknowns.IMPLIED)
    terms = arithmetic.log.terms
    before = _symbolic(prompt.forward(arithmetic), arithmetic, prompt.still)
    eta = tuple(terms.variable("eta") for _ in range(prompt.variables))
    bounds = _bounded(arithmetic.log, eta, epsilon)
    if branching is Branching.TRACED:
        arithmetic.trace = _branches(prompt.forward, prompt.still)
    added = tuple(prompt.split(tuple(map(terms.of, eta)), terms.number(Fraction(0))))
    after = _symbolic(prompt.forward(arithmetic, added), arithmetic, prompt.still)
    return Ball(arithmetic.log, before[-1][prompt.row], after[-1][prompt.row], eta, bounds)


def _branches(
    forward: Callable[[Exact], Forward[Grid, tuple[Row, ...]]], known: Mapping[int, Grid]
) -> Iterator[Witness]:
    """Return the branches that the exact engine takes in the stages that are not known."""
    exact = Exact()
    trace = Trace(forward(exact), known)
    for number in range(len(trace.forward.cells.stages)):
        trace.output(number)
    return iter(exact.witnesses)


def _symbolic(
    forward: Forward[SymbolicValue, WeightRows], arithmetic: Symbolic, known: Mapping[int, Grid]
) -> list[SumRows]:
    """Return every stage's output as terms; each assertion knows what it is part of."""
    trace = Trace(forward, known)
    outputs: list[SumRows] = []
    for number, stage in enumerate(forward.cells.stages):
        arithmetic.source = _source(stage.node)
        outputs.append(arithmetic.sums(trace.output(number)))
    return outputs


def _source(node: StageTarget) -> AssertionSource:
    match node:
        case Head() | Port():
            return AssertionSource.ATTENTION
        case Mlp():
            return AssertionSource.MLP
        case _:
            return AssertionSource.DECISION


def _bounded(log: AssertionLog, eta: Sequence[Variable], epsilon: Fraction) -> tuple[Assertion, ...]:
    """Return that every coordinate is at most epsilon either way, and let comparisons make use of it."""
    terms, limit = log.terms, log.terms.number(epsilon)
    sides = [terms.of(one, Fraction(sign)) for one in eta for sign in (1, -1)]
    bounds = tuple(Assertion(terms.at_least(limit, side), AssertionSource.DECISION) for side in sides)
    terms.ranges.update(dict.fromkeys(eta, (-epsilon, epsilon)))
    return bounds
