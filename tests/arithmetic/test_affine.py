from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twin
from circuitproof.arithmetic.affine import Affine, BendError, Forms, Unbent
from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.form_matrix import OpenSignError, SignCondition
from circuitproof.arithmetic.forms import Bound, Region, sign_of
from circuitproof.arithmetic.grid import Grid, grid_of_fractions
from circuitproof.arithmetic.protocol import Context
from circuitproof.errors import NotExactError
from circuitproof.models.operators import (
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Relu,
)

WIDTH = 3
numbers = st.fractions(-3, 3, max_denominator=4)
rows = st.lists(numbers, min_size=WIDTH, max_size=WIDTH)
shares = st.lists(st.sampled_from([Fraction(k, 3) for k in range(-3, 4)]), min_size=WIDTH, max_size=WIDTH)
radii = st.sampled_from([Fraction(1, 50), Fraction(1, 3), Fraction(2)])
bands = st.builds(BandNorm, st.just(Fraction(1)), st.just(Fraction(2)), st.sampled_from(Lift))
ONES = grid_of_fractions([[Fraction(1)] * WIDTH], WIDTH)
NONE = grid_of_fractions([[Fraction(0)] * WIDTH], WIDTH)
UNIT = grid_of_fractions([[Fraction(int(i == j)) for j in range(WIDTH)] for i in range(WIDTH)], WIDTH)


def moving(row) -> Forms:
    """Return a row to which η is added."""
    return Forms(grid_of_fractions([row], WIDTH), {0: UNIT})


def at(forms: Forms, eta, row: int = 0):
    """Return a row of forms at a perturbation."""
    constant = forms.constant.fractions()[row]
    slopes = forms.slopes[row].fractions() if row in forms.slopes else [[0] * len(constant)] * len(eta)
    return [c + sum(e * s[k] for e, s in zip(eta, slopes, strict=True)) for k, c in enumerate(constant)]


def split_until_known(region: Region, point, run):
    """Return the forms of the part of a region that holds a point, splitting where a sign is open."""
    for _ in range(60):
        try:
            return run(Affine(region, tuple(point)))
        except OpenSignError as stop:
            form = stop.condition.form
            bound = Bound(form, sign_of(form.at(point)))
            region = Region(region.radius, (*region.bounds, bound), region.is_open)
    raise AssertionError("splitting does not end")


def moved(row, eta):
    """Return a row with η added."""
    return [a + b for a, b in zip(row, eta, strict=True)]


@given(rows, radii, shares, bands)
def test_band_norm_on_forms_is_band_norm_at_every_point_of_the_part(row, radius, share, norm):
    """Against the slow twin, both lifts: at the point whose part it is, the forms are the values."""
    eta = [radius * part for part in share]
    forms = split_until_known(
        Region(radius), eta, lambda affine: affine.normalise(moving(row), norm, (ONES, NONE))
    )
    assert at(forms, eta) == twin.band_norm(norm, moved(row, eta))


@given(rows, st.sampled_from([Fraction(1, 50), Fraction(1, 3)]), shares, bands)
def test_a_branch_that_is_known_in_a_ball_is_right_all_over_it(row, radius, share, norm):
    """Where nothing is open at zero, the forms made there are the values anywhere."""
    try:
        forms = Affine(Region(radius), (Fraction(0),) * WIDTH).normalise(moving(row), norm, (ONES, NONE))
    except OpenSignError:
        return
    eta = [radius * part for part in share]
    assert at(forms, eta) == twin.band_norm(norm, moved(row, eta))


@given(rows, radii, shares, st.sampled_from([Relu(), LeakyRelu(Fraction(1, 100))]))
def test_activations_on_forms_are_activations_at_the_point(row, radius, share, activation):
    """And at zero either branch will do, so splits there are closed on both sides."""
    eta = [radius * part for part in share]
    forms = split_until_known(Region(radius), eta, lambda affine: affine.activate(moving(row), activation))
    assert at(forms, eta) == [twin.bend(activation, number) for number in moved(row, eta)]


@given(rows, rows, radii, shares)
def test_sparsemax_of_a_perturbed_query(query, key, radius, share):
    """Scores are linear in the query, weights given the support."""
    eta = [radius * part for part in share]
    keys = Forms(grid_of_fractions([key, query], WIDTH), {})
    contexts = [Context(0, (0, 1), (0, 1))]

    def run(affine: Affine):
        scores = affine.scores(moving(query), keys, contexts, Fraction(1, 2))
        weights = affine.attention(scores, Attention.SPARSEMAX)
        return affine.weigh(weights, contexts, keys)

    forms = split_until_known(Region(radius), eta, run)
    asked = moved(query, eta)
    weights = twin.sparsemax([twin.dot(asked, one) / 2 for one in (key, query)])
    assert at(forms, eta) == [weights[0] * a + weights[1] * b for a, b in zip(key, query, strict=True)]


@given(rows, rows, radii, shares)
def test_sparsemax_of_a_perturbed_key(query, key, radius, share):
    """The same from the other side; the key's own value is not perturbed here."""
    eta = [radius * part for part in share]
    asked, still = (Forms(grid_of_fractions([one], WIDTH), {}) for one in (query, key))
    contexts = [Context(0, (0, 1), (0, 1))]

    def run(affine: Affine):
        keys = affine.take(Forms(grid_of_fractions([key, query], WIDTH), {0: UNIT}), [0, 1])
        values = Forms(grid_of_fractions([key, query], WIDTH), {})
        weights = affine.attention(affine.scores(asked, keys, contexts, Fraction(1)), Attention.SPARSEMAX)
        return affine.weigh(weights, contexts, values)

    forms = split_until_known(Region(radius), eta, run)
    weights = twin.sparsemax([twin.dot(query, moved(key, eta)), twin.dot(query, query)])
    assert still.is_constant
    assert at(forms, eta) == [weights[0] * a + weights[1] * b for a, b in zip(key, query, strict=True)]


@given(rows, rows, shares)
def test_linear_operations_need_no_branch(row, other, eta):
    """Maps, sums and mixes of forms, against the same of numbers."""
    affine, exact = Affine(Region(Fraction(1)), (Fraction(0),) * WIDTH), Exact()
    weight = grid_of_fractions([row, other], WIDTH)
    values = affine.add(moving(row), affine.constant(grid_of_fractions([other, row], WIDTH)))
    mapped = affine.affine(affine.mix([((0, Fraction(1, 3)), (1, Fraction(2)))], values), weight, None)
    there = grid_of_fractions([moved(moved(row, other), eta), moved(moved(row, row), eta)], WIDTH)
    wanted = exact.affine(exact.mix([((0, Fraction(1, 3)), (1, Fraction(2)))], there), weight, None)
    assert at(mapped, eta) == list(wanted.fractions()[0])


@given(rows, shares, st.lists(numbers, min_size=2, max_size=2), st.lists(numbers, min_size=2, max_size=2))
def test_a_rotation_of_forms_is_the_rotation_at_the_point(row, eta, cosines, sines):
    """The second row stands still, and each row has its own row of the tables."""
    tables = [grid_of_fractions([[number] for number in one], 1) for one in (cosines, sines)]
    both = Forms(grid_of_fractions([row, row], WIDTH), {0: UNIT})
    turned = Unbent().rotate(both, *tables)
    there = Exact().rotate(grid_of_fractions([moved(row, eta), row], WIDTH), *tables).fractions()
    assert at(turned, eta) == list(there[0])
    assert turned.constant.take([1]).fractions()[0] == there[1]
    assert 1 not in turned.slopes


def test_products_of_two_perturbed_things_are_not_forms():
    """They have no value here, which is an answer with its own type."""
    affine = Affine(Region(Fraction(1)), (Fraction(0),) * WIDTH)
    row = moving([Fraction(1)] * WIDTH)
    with pytest.raises(NotExactError, match=r"query meets a perturbed key.*ask after the attention"):
        affine.scores(row, row, [Context(0, (0,), (0,))], Fraction(1))
    weights = (Forms(grid_of_fractions([[Fraction(1)]], 1), {0: Grid(UNIT.numbers[:, :1], 0, (1,) * WIDTH)}),)
    with pytest.raises(NotExactError, match="perturbed weights meet perturbed values"):
        affine.weigh(weights, [Context(0, (0,), (0,))], row)


def test_operators_without_an_exact_value_have_none_on_forms():
    """Constant rows or not."""
    affine = Affine(Region(Fraction(1)), (Fraction(0),) * WIDTH)
    row = moving([Fraction(1)] * WIDTH)
    with pytest.raises(NotExactError, match="GELU has no exact value"):
        affine.activate(row, Gelu(GeluForm.EXACT))
    with pytest.raises(NotExactError, match="softmax attention has no exact value"):
        affine.attention((row,), Attention.SOFTMAX)
    still = Forms(row.constant, {})
    with pytest.raises(NotExactError, match="LayerNorm has no exact value"):
        affine.normalise(still, LayerNorm(Fraction(1)), (ONES, NONE))
    with pytest.raises(NotExactError, match="LayerNorm has no exact value"):
        affine.normalise(row, LayerNorm(Fraction(1)), (ONES, NONE))
    assert affine.normalise(row, NoNorm(), (ONES, NONE)) is row


def test_a_trace_lists_what_is_not_stable_and_goes_on():
    """The paper's method names the coordinates whose branch may change."""
    conditions: list[SignCondition] = []
    affine = Affine(Region(Fraction(1)), (Fraction(0),) * WIDTH, traced=conditions)
    affine.activate(moving([Fraction(1, 2), Fraction(5), Fraction(0)]), Relu())
    assert [(one.operator, one.place) for one in conditions] == [("activation", 0), ("activation", 2)]


def test_without_a_region_nothing_bends():
    """What is constant is computed; a form that meets an operator with branches stops it."""
    arithmetic, norm = Unbent(), BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS)
    still = arithmetic.constant(grid_of_fractions([[Fraction(1), Fraction(0), Fraction(-2)]], WIDTH))
    assert arithmetic.normalise(still, norm, (ONES, NONE)).is_constant
    for bend in (
        lambda: arithmetic.normalise(moving([Fraction(0)] * WIDTH), norm, (ONES, NONE)),
        lambda: arithmetic.activate(moving([Fraction(0)] * WIDTH), Relu()),
        lambda: arithmetic.attention((moving([Fraction(0)] * WIDTH),), Attention.SPARSEMAX),
    ):
        with pytest.raises(BendError):
            bend()
