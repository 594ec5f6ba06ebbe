from fractions import Fraction

from circuitproof.solvers.assertions import Ledger, Naming, Source
from circuitproof.solvers.terms import Variable
from definitions import unknown_row


def test_an_equal_value_has_one_variable():
    """A number that is computed twice is asserted once."""
    ledger = Ledger()
    _, (x, y) = unknown_row(ledger.terms, 2)
    first = ledger.define(ledger.terms.plus(x, y), Source.MLP)
    assert ledger.define(ledger.terms.plus(y, x), Source.NORM) is first
    assert [len(group.assertions) for group in ledger.groups] == [1]
    assert ledger.groups[0].assertions[0].source is Source.MLP


def test_constants_and_where_asked_sums_need_no_variable():
    """Linear steps are substituted when only branches are named."""
    ledger = Ledger(Naming.BRANCHES)
    _, (x, y) = unknown_row(ledger.terms, 2)
    linear = ledger.terms.plus(x, y)
    assert ledger.define(linear, Source.MLP) is linear
    known = ledger.terms.number(Fraction(1))
    assert Ledger().define(known, Source.MLP) is known
    bent = ledger.terms.choose(ledger.terms.above(x, y), x, y)
    assert ledger.define(bent, Source.MLP) is not bent
    assert [group.source for group in ledger.groups] == [Source.MLP]


def test_a_product_with_a_known_factor_is_a_sum():
    """Only products of two unknowns make a query nonlinear."""
    ledger = Ledger(Naming.BRANCHES)
    _, (x, y) = unknown_row(ledger.terms, 2)
    three = ledger.terms.number(Fraction(3))
    assert ledger.times(x, three, Source.ATTENTION) is ledger.times(three, x, Source.ATTENTION)
    assert isinstance(ledger.times(x, three, Source.ATTENTION).parts[0][0], Variable)
    product = ledger.times(ledger.terms.plus(x, y), x, Source.ATTENTION)
    assert ledger.times(x, ledger.terms.plus(x, y), Source.ATTENTION) is product
    assert len(ledger.groups) == 1, "a factor that is a sum gets a variable, once"


def test_a_cone_holds_what_a_formula_depends_on_and_nothing_else():
    """A query asserts no more than it needs, in the order of computation."""
    ledger = Ledger()
    terms = ledger.terms
    _, (x, y) = unknown_row(terms, 2)
    doubled = ledger.define(terms.plus(x, x), Source.MLP)
    other = ledger.define(terms.plus(y, y), Source.MLP)
    last = ledger.define(terms.plus(doubled, x), Source.DECISION)
    goal = terms.above(last, terms.number(Fraction(0)))
    assert ledger.cone([goal]) == [ledger.groups[0], ledger.groups[2]]
    assert ledger.cone([terms.selector("s")]) == []
    assert len(ledger.cone([goal, terms.equal(other, x)])) == 3


def test_a_definition_inherits_the_range_of_its_value():
    """What is decided over a ball stays decided behind a name."""
    ledger = Ledger()
    (name,), (x,) = unknown_row(ledger.terms, 1)
    ledger.terms.ranges[name] = (Fraction(1), Fraction(2))
    made = ledger.define(ledger.terms.plus(x, x), Source.MLP)
    assert ledger.terms.range_of(made) == (2, 4)
