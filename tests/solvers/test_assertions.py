from fractions import Fraction

from circuitproof.solvers.assertions import AssertionLog, AssertionSource, Naming
from circuitproof.solvers.terms import Variable
from definitions import unknown_row


def test_an_equal_value_has_one_variable():
    """A number that is computed twice is asserted once."""
    log = AssertionLog()
    _, (x, y) = unknown_row(log.terms, 2)
    first = log.define(log.terms.plus(x, y), AssertionSource.MLP)
    assert log.define(log.terms.plus(y, x), AssertionSource.NORM) is first
    assert [len(group.assertions) for group in log.groups] == [1]
    assert log.groups[0].assertions[0].source is AssertionSource.MLP


def test_constants_and_where_asked_sums_need_no_variable():
    """Linear steps are substituted when only branches are named."""
    log = AssertionLog(Naming.BRANCHES)
    _, (x, y) = unknown_row(log.terms, 2)
    linear = log.terms.plus(x, y)
    assert log.define(linear, AssertionSource.MLP) is linear
    known = log.terms.number(Fraction(1))
    assert AssertionLog().define(known, AssertionSource.MLP) is known
    bent = log.terms.choose(log.terms.above(x, y), x, y)
    assert log.define(bent, AssertionSource.MLP) is not bent
    assert [group.source for group in log.groups] == [AssertionSource.MLP]


def test_a_product_with_a_known_factor_is_a_sum():
    """Only products of two unknowns make a query nonlinear."""
    log = AssertionLog(Naming.BRANCHES)
    _, (x, y) = unknown_row(log.terms, 2)
    three = log.terms.number(Fraction(3))
    assert log.times(x, three, AssertionSource.ATTENTION) is log.times(three, x, AssertionSource.ATTENTION)
    assert isinstance(log.times(x, three, AssertionSource.ATTENTION).parts[0][0], Variable)
    product = log.times(log.terms.plus(x, y), x, AssertionSource.ATTENTION)
    assert log.times(x, log.terms.plus(x, y), AssertionSource.ATTENTION) is product
    assert len(log.groups) == 1, "a factor that is a sum gets a variable, once"


def test_a_cone_holds_what_a_formula_depends_on_and_nothing_else():
    """A query asserts no more than it needs, in the order of computation."""
    log = AssertionLog()
    terms = log.terms
    _, (x, y) = unknown_row(terms, 2)
    doubled = log.define(terms.plus(x, x), AssertionSource.MLP)
    other = log.define(terms.plus(y, y), AssertionSource.MLP)
    last = log.define(terms.plus(doubled, x), AssertionSource.DECISION)
    goal = terms.above(last, terms.number(Fraction(0)))
    assert log.cone([goal]) == [log.groups[0], log.groups[2]]
    assert log.cone([terms.selector("s")]) == []
    assert len(log.cone([goal, terms.equal(other, x)])) == 3


def test_a_definition_inherits_the_range_of_its_value():
    """What is decided over a ball stays decided behind a name."""
    log = AssertionLog()
    (name,), (x,) = unknown_row(log.terms, 1)
    log.terms.ranges[name] = (Fraction(1), Fraction(2))
    made = log.define(log.terms.plus(x, x), AssertionSource.MLP)
    assert log.terms.range_of(made) == (2, 4)
