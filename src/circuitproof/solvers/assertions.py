"""What a symbolic computation asserts: every equation and condition, by where it comes from.

An `AssertionGroup` holds what one application of an operator says about the variables that it introduces.
Whatever values the inputs have, a group's definitions leave its outputs exactly one value: leaving a group
out never makes a formula about other variables true or false. So a query may assert just the groups it
depends on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto

from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import SmtFormula, Sum, Symbol, Variable, symbols


class AssertionSource(StrEnum):
    """What part of a transformer an assertion is about."""

    NORM = "norm"
    ATTENTION = "attention"
    MLP = "mlp"
    EMBEDDING = "embedding/residual"
    DECISION = "decision"

    @property
    def prefix(self) -> str:
        return self.value.split("/")[-1]


class Naming(Enum):
    """Which numbers get a variable of their own."""

    EVERYTHING = auto()
    """Every number the forward pass computes, and every constant it reads."""
    BRANCHES = auto()
    """What a branch decides and factors; linear steps are substituted, and known numbers stay known."""


@dataclass(frozen=True, slots=True, eq=False)
class Assertion:
    """A formula that must hold; a condition says which branch was taken, others define."""

    formula: SmtFormula
    source: AssertionSource
    is_condition: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class AssertionGroup:
    """The assertions of one application of an operator."""

    log: "AssertionLog"
    source: AssertionSource
    assertions: list[Assertion] = field(default_factory=list[Assertion])

    def variable(self) -> Sum:
        """Return a new unknown, which this group must define."""
        made = self.log.terms.variable(self.source.prefix)
        self.log.owners[made] = self
        return self.log.terms.of(made)

    def output(self, value: Sum) -> Sum:
        """Return a new variable that equals `value`, so that what depends on it depends on this group."""
        made, terms = self.variable(), self.log.terms
        self.require(terms.equal(value, made))
        if (span := terms.range_of(value)) is not None:
            terms.ranges[self.log.factor(made, self.source)] = span
        return made

    def define(self, value: Sum) -> Sum:
        """Return a variable that equals `value`, the same for equal values, or `value` if it needs no name.

        A constant needs none, and where linear steps are substituted no sum of variables does.
        """
        if self.log.is_plain(value):
            return value
        if value not in self.log.names:
            self.log.names[value] = self.output(value)
        return self.log.names[value]

    def require(self, formula: SmtFormula) -> None:
        """Assert a formula that defines."""
        self.assertions.append(Assertion(formula, self.source))

    def condition(self, formula: SmtFormula) -> None:
        """Assert that a traced branch is taken."""
        self.assertions.append(Assertion(formula, self.source, is_condition=True))


@dataclass(slots=True)
class AssertionLog:
    """All groups of a computation, and which group defines each variable."""

    naming: Naming = Naming.EVERYTHING
    terms: TermTable = field(default_factory=TermTable)
    groups: list[AssertionGroup] = field(default_factory=list[AssertionGroup])
    owners: dict[Symbol, AssertionGroup] = field(default_factory=dict[Symbol, AssertionGroup])
    names: dict[Sum, Sum] = field(default_factory=dict[Sum, Sum])
    """The variable that was introduced for a value."""

    def group(self, source: AssertionSource) -> AssertionGroup:
        self.groups.append(AssertionGroup(self, source))
        return self.groups[-1]

    def define(self, value: Sum, source: AssertionSource) -> Sum:
        """Return the variable of a value, or the value if it needs no name."""
        return self.names.get(value, value) if self.is_plain(value) else self.named(value, source)

    def named(self, value: Sum, source: AssertionSource) -> Sum:
        """Return the variable of a value, which a new group defines if it has none yet."""
        if value not in self.names:
            self.names[value] = self.group(source).output(value)
        return self.names[value]

    def is_plain(self, value: Sum) -> bool:
        """Say whether a value is used as it is, without a variable of its own."""
        is_linear = all(isinstance(atom, Variable) for atom, _ in value.parts)
        return value.is_known or (self.naming is Naming.BRANCHES and is_linear)

    def factor(self, value: Sum, source: AssertionSource) -> Variable:
        """Return a variable that equals `value`, for use in a product."""
        match value.parts:
            case ((Variable() as only, factor),) if factor == 1 and not value.constant:
                return only
            case _:
                return self.factor(self.named(value, source), source)

    def times(self, left: Sum, right: Sum, source: AssertionSource) -> Sum:
        """Return a product: a sum where a factor is known, else a product of variables."""
        if left.is_known or right.is_known:
            known, other = (left, right) if left.is_known else (right, left)
            return self.terms.combine(((other, known.constant),))
        factors = self.factor(left, source), self.factor(right, source)
        return self.terms.of(self.terms.product(*factors))

    def cone(self, formulas: Iterable[SmtFormula]) -> list[AssertionGroup]:
        """Return the groups that formulas depend on, in the order of computation."""
        waiting: list[SmtFormula] = list(formulas)
        found: set[AssertionGroup] = set()
        while waiting:
            for symbol in symbols(waiting.pop()):
                if (group := self.owners.get(symbol)) is not None and group not in found:
                    found.add(group)
                    waiting.extend(assertion.formula for assertion in group.assertions)
        return [group for group in self.groups if group in found]
