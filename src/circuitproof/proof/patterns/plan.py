"""How the logits come about in a region: a constant, a sum over tokens, and rows whose normaliser varies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from circuitproof.circuits.graph import Head
from circuitproof.programs.syntax import Otherwise, Program
from circuitproof.proof.patterns.outline import HERE, Outline, SourceGroup
from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.proof.patterns.runs import Runs, Step, cheapest
from circuitproof.proof.patterns.tables import Contribution, Function, Tables, TokenAtPosition
from circuitproof.tasks.domain import Prompt


class Share(Enum):
    """How much of a function a token contributes."""

    LAST = "all of it if it is the last"
    CHOSEN = "all of it if it has weight"
    CONSTANT = "its weight divided by a constant"


@dataclass(frozen=True, slots=True)
class Term:
    """A function summed over the tokens of a prompt, each with its share."""

    function: Function
    share: Share
    head: int = 0
    """The place of the head whose weights count."""
    total: int = 1

    def factor(self, step: Step) -> Fraction | int:
        match self.share:
            case Share.LAST:
                return int(step.target is None)
            case Share.CHOSEN:
                return int(step.weights[self.head] > 0)
            case Share.CONSTANT:
                return Fraction(step.weights[self.head], self.total)


@dataclass(frozen=True, slots=True)
class Varying:
    """A row whose weights sum to different numbers: a mean of a function over the keys with weight."""

    function: Function
    head: int
    is_self: bool
    """Whether a row without weight attends to the last position; otherwise to nothing."""

    def is_read(self, step: Step) -> bool:
        return step.weights[self.head] > 0 or (self.is_self and step.target is None)


@dataclass(frozen=True, slots=True)
class FoundPrompt:
    """A prompt of a region and the steps that it takes."""

    prompt: Prompt
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The logits in a region: a constant, terms of a sum over tokens, and rows that vary."""

    runs: Runs
    tables: Tables
    constant: Contribution
    terms: tuple[Term, ...]
    varying: tuple[Varying, ...]

    @property
    def is_exact(self) -> bool:
        """Say whether at most one part varies, so that the least sum is the sum of the least."""
        return len(self.varying) + bool(self.terms) <= 1

    def any_prompt(self) -> FoundPrompt:
        path = cheapest(self.runs, lambda _position, _step: 1)
        assert path is not None  # noqa: S101  # a region has prompts
        return FoundPrompt(tuple(self.runs.machine.atoms[step.atom][0] for step in path.steps), path.steps)

    def logits(self, found: FoundPrompt) -> Contribution:
        """Return the logits of a prompt whose values are prepared."""
        pairs = list(enumerate(zip(found.prompt, found.steps, strict=True)))
        parts = [
            (term.function, token, position, term.factor(step))
            for term in self.terms
            for position, (token, step) in pairs
            if term.factor(step)
        ]
        for row in self.varying:
            total = sum(step.weights[row.head] for step in found.steps)
            shares = [Fraction(step.weights[row.head], total or 1) for step in found.steps]
            if not total and row.is_self:
                shares[-1] = Fraction(1)
            parts += [(row.function, token, k, shares[k]) for k, (token, _) in pairs if shares[k]]
        logits = list(self.constant)
        for function, token, position, factor in parts:
            values = self.tables.at(function, token, position)
            logits = [old + factor * value for old, value in zip(logits, values, strict=True)]
        return tuple(logits)


def plan(runs: Runs, tables: Tables, programs: Mapping[Head, Program]) -> Plan:
    """Find out how each source contributes in a region, and compute what is needed of it."""
    here, outline = _only_end(runs), tables.outline
    parts = {group: _part(runs, outline, group, here, programs) for group in outline.groups}
    terms = tuple(part for part in parts.values() if isinstance(part, Term))
    varying = tuple(part for part in parts.values() if isinstance(part, Varying))
    for term in terms:
        tables.prepare(term.function, _needed(runs, term.factor))
    for row in varying:
        tables.prepare(row.function, _needed(runs, row.is_read))
    fixed = [group for group, part in parts.items() if part is None]
    return Plan(runs, tables, tables.fixed(fixed, here), terms, varying)


def _part(
    runs: Runs,
    outline: Outline,
    group: SourceGroup,
    here: TokenAtPosition | None,
    programs: Mapping[Head, Program],
) -> Term | Varying | None:
    """Return how a group of sources enters; nothing if it contributes the same to all prompts."""
    left = group.coordinates - {HERE} if here is not None else group.coordinates
    if len(left) > 1:
        raise _tangled(group)
    if not left:
        return None
    (coordinate,) = left
    function = Function(group, coordinate, here, outline.is_separable(group))
    if coordinate is None:
        return Term(function, Share.LAST)
    return _of_row(runs, function, coordinate, programs[coordinate])


def _needed(runs: Runs, is_read: Callable[[Step], object]) -> list[tuple[int, tuple[int, ...]]]:
    places = dict.fromkeys((position, step.atom) for position, step in runs.steps() if is_read(step))
    return [(position, runs.machine.atoms[atom]) for position, atom in places]


def _only_end(runs: Runs) -> TokenAtPosition | None:
    """Return last token and last position if all prompts of a region share them."""
    ends = {(step.atom, position) for position, step in runs.steps() if step.target is None}
    ((atom, position), *others) = ends
    is_single = not others and runs.machine.sizes[atom] == 1
    return (runs.machine.atoms[atom][0], position) if is_single else None


def _tangled(group: SourceGroup) -> UnsettledError:
    heads = sorted(str(one) for one in group.coordinates if one is not None)
    if HERE in group.coordinates:
        reason = f"{group.bent} bends what {heads[0]} and the last position bring together"
        return UnsettledError(Missing.LAST, reason)
    return UnsettledError(Missing.STRUCTURE, f"{group.bent} bends what {' and '.join(heads)} bring together")


def _of_row(runs: Runs, function: Function, head: Head, program: Program) -> Term | Varying | None:
    """Return how a head's row enters; nothing if it attends nowhere at all."""
    place = runs.heads.index(head)
    least, most = _range(runs, lambda step: step.weights[place])
    if most == 0:
        return Term(function, Share.LAST) if program.otherwise is Otherwise.SELF else None
    if _range(runs, lambda step: int(step.weights[place] > 0)) == (1, 1):
        return Term(function, Share.CHOSEN, place)
    if function.group.bent is not None:
        reason = f"{function.group.bent} bends what {head} mixes from several keys"
        is_open = least != most
        raise UnsettledError(Missing.SUM if is_open else Missing.STRUCTURE, reason, head)
    if least == most:
        return Term(function, Share.CONSTANT, place, least)
    return Varying(function, place, program.otherwise is Otherwise.SELF)


def _range(runs: Runs, number: Callable[[Step], int]) -> tuple[int, int]:
    least = cheapest(runs, lambda _, step: number(step))
    most = cheapest(runs, lambda _, step: -number(step))
    assert least is not None and most is not None  # noqa: S101, PT018  # a region has prompts
    return int(least.cost), int(-most.cost)
