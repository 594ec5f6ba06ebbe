"""The weights of a program's row, key by key, while a prompt is read from its start.

What a condition says of a key may depend on keys before it, which a state remembers, and on keys behind it,
which are guessed: of all guesses one survives to the end of the prompt. What it says may also depend on the
query; where a region does not tell enough of it, `UnsettledError` names what is missing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import lcm
from typing import Any, TypeAlias, assert_never

from circuitproof.circuits.graph import Head
from circuitproof.programs.atoms import Bracketed, Condition, PairEnd, Tally
from circuitproof.programs.features import Operand, comparing
from circuitproof.programs.syntax import AllOf, AnyOf, Formula, Not, Pick, Program, Scan, atoms
from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.tasks.patterns import TokenClass

RowState: TypeAlias = Any
"""What is remembered and guessed: numbers in nested tuples."""


@dataclass(frozen=True, slots=True)
class KeyToken:
    """A token of a prompt as it is read; the last one is the query itself."""

    atom: int
    token: int
    position: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """What is known of the query of every row in a region: its length, and the atoms its token may be of."""

    head: Head
    length: int | None
    last: tuple[int, ...]
    tokens: tuple[int, ...]
    """One token of each of these atoms."""
    is_single: bool
    """Whether just one token is possible."""


@dataclass(frozen=True, slots=True)
class ConditionMachine:
    """Reads keys: from a state, for each guess, what it says of the key, and the next state.

    The machine of a condition says whether that holds; a joined one may say it of each of several.
    """

    starts: tuple[RowState, ...]
    step: Callable[[RowState, KeyToken], Iterable[tuple[Any, RowState]]]
    ends: Callable[[RowState], bool]


@dataclass(frozen=True, slots=True)
class RowMachine(ConditionMachine):
    """Reads keys and returns their weights in whole units of 1/`scale`."""

    scale: int


def row_machine(program: Program, query: KnownQuery) -> RowMachine:
    """Return the machine of a program's row at the last position of the prompts of a region."""
    rules = [rule for rule in program.rules if rule.weight]
    scale = lcm(program.default.denominator, *(rule.weight.denominator for rule in rules))
    weights = [int(rule.weight * scale) for rule in rules]
    whole = _joined([_joined([_machine(c, query) for c in rule.conditions], all) for rule in rules], tuple)
    default = int(program.default * scale)

    def step(state: RowState, key: KeyToken) -> Iterator[tuple[int, RowState]]:
        for truths, after in whole.step(state, key):
            yield default + sum(w for w, holds in zip(weights, truths, strict=True) if holds), after

    return RowMachine(whole.starts, step, whole.ends, scale)


def classes_of(program: Program) -> tuple[TokenClass, ...]:
    """Return classes of tokens that the conditions of a program do not cut."""
    conditions = [condition for rule in program.rules for condition in rule.conditions]
    mentioned = [tuple(sorted(set(atom.tokens()))) for one in conditions for atom in atoms(one)]
    return tuple(TokenClass(tokens) for tokens in dict.fromkeys(mentioned) if tokens)


def _machine(formula: Formula, query: KnownQuery) -> ConditionMachine:
    match formula:
        case Condition():
            return _stateless(_truth(formula, query))
        case Not(part):
            inner = _machine(part, query)
            return ConditionMachine(
                inner.starts,
                lambda state, key: ((not holds, after) for holds, after in inner.step(state, key)),
                inner.ends,
            )
        case AllOf(parts):
            return _joined([_machine(part, query) for part in parts], all)
        case AnyOf(parts):
            return _joined([_machine(part, query) for part in parts], any)
        case Scan(Pick.FIRST, part):
            return _first(_machine(part, query))
        case Scan(pick, part):
            return _last(_machine(part, query), may_be_query=pick is Pick.LAST)
        case Tally(PairEnd.KEY, tuple() as of) as tally:
            return _key_count(tally, frozenset(of))
        case Tally(PairEnd.QUERY, tuple() as of) as tally:
            return _query_count(tally, frozenset(of))
        case Tally() | Bracketed():
            reason = f"the program of {query.head} matches brackets, which cells do not follow"
            raise UnsettledError(Missing.STRUCTURE, reason)


def _stateless(holds: Callable[[KeyToken], bool]) -> ConditionMachine:
    return ConditionMachine(((),), lambda state, key: ((holds(key), state),), lambda _: True)


def _joined(machines: list[ConditionMachine], join: Callable[[Iterable[bool]], Any]) -> ConditionMachine:
    """Return the machine that runs several at once and joins what they say."""

    def step(states: RowState, key: KeyToken) -> Iterator[tuple[bool, RowState]]:
        options = [m.step(state, key) for m, state in zip(machines, states, strict=True)]
        for chosen in product(*options):
            yield join(holds for holds, _ in chosen), tuple(after for _, after in chosen)

    starts = tuple(product(*(machine.starts for machine in machines)))
    return ConditionMachine(
        starts, step, lambda states: all(m.ends(s) for m, s in zip(machines, states, strict=True))
    )


def _first(part: ConditionMachine) -> ConditionMachine:
    """Return the machine that holds where `part` does for the first time."""

    def step(state: RowState, key: KeyToken) -> Iterator[tuple[bool, RowState]]:
        inner, is_found = state
        for holds, after in part.step(inner, key):
            yield holds and not is_found, (after, is_found or holds)

    return ConditionMachine(
        tuple((start, False) for start in part.starts), step, lambda state: part.ends(state[0])
    )


def _last(part: ConditionMachine, *, may_be_query: bool) -> ConditionMachine:
    """Return the machine that holds where `part` does for the last time.

    Where it holds, one guess is that it holds there for the last time, the other that it will again.
    """
    none, owed, picked = range(3)

    def step(state: RowState, key: KeyToken) -> Iterator[tuple[bool, RowState]]:
        inner, phase = state
        for holds, after in part.step(inner, key):
            if not holds or (key.is_last and not may_be_query):
                yield False, (after, phase)
            elif phase != picked:
                yield True, (after, picked)
                yield False, (after, owed)

    starts = tuple((start, none) for start in part.starts)
    return ConditionMachine(starts, step, lambda state: state[1] != owed and part.ends(state[0]))


def _key_count(tally: Tally, of: frozenset[int]) -> ConditionMachine:
    test = comparing(tally.comparison, tally.value)

    def step(state: RowState, key: KeyToken) -> Iterator[tuple[bool, RowState]]:
        count = min(state + (key.token in of), tally.bound)
        yield test(count), count

    return ConditionMachine((0,), step, lambda _: True)


def _query_count(tally: Tally, of: frozenset[int]) -> ConditionMachine:
    """Return the machine that guesses the count at the query and is held to it."""
    test = comparing(tally.comparison, tally.value)

    def step(state: RowState, key: KeyToken) -> Iterator[tuple[bool, RowState]]:
        guess, count = state
        count = min(count + (key.token in of), tally.bound)
        if count <= guess:
            yield test(guess), (guess, count)

    starts = tuple((guess, 0) for guess in range(tally.bound + 1))
    return ConditionMachine(starts, step, lambda state: state[0] == state[1])


def _truth(condition: Condition, query: KnownQuery) -> Callable[[KeyToken], bool]:
    """Return what says whether a condition holds of a key, for every query that a region allows."""
    test, feature = comparing(condition.comparison, condition.value), condition.feature
    if feature.words is None:
        return lambda key: test(_matches(key, query))
    is_placed = query.length is not None or Operand.QUERY_POSITION not in feature.operands
    is_of_query = Operand.QUERY_TOKEN in feature.operands

    def holds(key: KeyToken) -> bool:
        if not (is_placed or key.is_last):
            raise UnsettledError(Missing.LENGTH, f"the program of {query.head} reads {feature}")
        place = key.position if key.is_last or query.length is None else query.length - 1
        tokens = query.tokens if is_of_query and not key.is_last else (key.token,)
        found = [[_operand(one, key, place, token) for one in feature.operands] for token in tokens]
        return _settled({test(feature.compute(*operands)) for operands in found}, query)

    return holds


def _operand(operand: Operand, key: KeyToken, place: int, token: int) -> int:
    """Return an operand of a feature for a query at a place that holds this token."""
    match operand:
        case Operand.QUERY_POSITION:
            return place
        case Operand.KEY_POSITION:
            return key.position
        case Operand.QUERY_TOKEN:
            return token
        case Operand.KEY_TOKEN:
            return key.token
        case _:
            assert_never(operand)


def _settled(truths: set[bool], query: KnownQuery) -> bool:
    if len(truths) > 1:
        raise UnsettledError(Missing.LAST, f"the program of {query.head} reads the last token")
    return truths.pop()


def _matches(key: KeyToken, query: KnownQuery) -> bool:
    if key.is_last or (query.is_single and query.last == (key.atom,)):
        return True
    return _settled({False, True} if key.atom in query.last else {False}, query)
