"""The torch operators against the definitions they implement."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from circuitproof.errors import NumericError
from circuitproof.models.operators import BandNorm, Gelu, GeluForm, LeakyRelu, Lift, Relu
from circuitproof.nn.ops import activate, band_norm, project, softmax, sparsemax
from floats import agree, within

scores = st.lists(st.integers(-96, 96).map(lambda n: Fraction(n, 32)), min_size=1, max_size=6)
masses = st.integers(1, 128).map(lambda n: Fraction(n, 32))
REFERENCE = BandNorm(Fraction(1), Fraction(2), Lift.REFERENCE)
CONTINUOUS = BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS)


def nearest_by_brute_force(values, mass):
    """Try every support: on it the weights are the scores shifted to the right sum; keep the nearest."""
    places = range(len(values))
    best = None
    for support in chain.from_iterable(combinations(places, size) for size in range(1, len(values) + 1)):
        shift = (sum(values[i] for i in support) - mass) / len(support)
        weights = [values[i] - shift if i in support else Fraction(0) for i in places]
        if min(weights) >= 0:
            distance = sum((w - v) ** 2 for w, v in zip(weights, values, strict=True))
            if best is None or distance < best[0]:
                best = (distance, weights)
    return best[1]


def tensor(values):
    """Return exact numbers as FP32."""
    return torch.tensor([float(value) for value in values])


def allow_all(values):
    """Return a mask that hides nothing."""
    return torch.ones_like(values, dtype=torch.bool)


@given(scores, masses)
def test_projection_equals_the_nearest_point_found_by_trying_every_support(values, mass):
    """The sort is a shortcut for a minimisation; the slow twin minimises, in rationals.

    The threshold is found in FP64, so FP32 scores lose one rounding, and far less than a second one.
    """
    given_scores = tensor(values)
    weights, support = project(given_scores, torch.tensor(float(mass)), allow_all(given_scores))
    wanted = nearest_by_brute_force(values, mass)
    assert support.tolist() == [weight > 0 for weight in wanted]
    assert within(weights, [float(weight) for weight in wanted], roundings=2, size=float(mass))


@given(scores)
def test_sparsemax_lies_in_the_simplex(values):
    """Attention weights are non-negative and sum to one, each of them rounded once."""
    given_scores = tensor(values)
    weights = sparsemax(given_scores, allow_all(given_scores))
    assert bool((weights >= 0).all())
    assert within(weights.double().sum(), 1.0, roundings=2, size=1)


@given(scores, st.integers(-64, 64))
def test_sparsemax_ignores_a_common_shift(values, shift):
    """Adding one number to every score changes nothing, to the last bit."""
    before, after = tensor(values), tensor([value + shift for value in values])
    assert torch.equal(sparsemax(before, allow_all(before)), sparsemax(after, allow_all(after)))


@given(scores, st.data())
def test_a_masked_entry_counts_as_absent(values, data):
    """Masking is exact: no large negative constant that a large score could beat."""
    flags = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)).filter(any))
    huge = tensor([value if flag else value + 10**6 for value, flag in zip(values, flags, strict=True)])
    weights = sparsemax(huge, torch.tensor(flags))
    kept = tensor([value for value, flag in zip(values, flags, strict=True) if flag])
    assert torch.equal(weights[torch.tensor(flags)], sparsemax(kept, allow_all(kept)))
    assert not weights[~torch.tensor(flags)].any()


def test_the_support_is_exact_at_a_tie():
    """An entry that exactly touches the threshold gets weight zero and is not in the support."""
    given_scores = torch.tensor([1.0, 0.0, 0.0])
    weights, support = project(given_scores, torch.tensor(1.0), allow_all(given_scores))
    assert weights.tolist() == [1.0, 0.0, 0.0]
    assert support.tolist() == [True, False, False]


@pytest.mark.parametrize("width", [1, 7, 40, 300])
def test_numpy_and_torch_sort_rows_to_the_same_bits(width, monkeypatch):
    """So a projection is the same where torch sorts: on other devices, and when it is compiled."""
    scores = torch.randn(5, 3, width, generator=torch.Generator().manual_seed(width)).mul(4).round().div(4)
    allowed = torch.rand(5, 3, width, generator=torch.Generator().manual_seed(1)) < 0.7
    allowed[..., 0] = True
    found = project(scores.transpose(0, 1), torch.ones(3, 5), allowed.transpose(0, 1))
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    again = project(scores.transpose(0, 1), torch.ones(3, 5), allowed.transpose(0, 1))
    assert all(torch.equal(one, other) for one, other in zip(found, again, strict=True))


def test_projection_has_the_right_gradient():
    """Training goes through the projection, and through the mass when BandNorm sets it."""
    generator = torch.Generator().manual_seed(3)
    values = torch.randn(5, 7, generator=generator, dtype=torch.float64, requires_grad=True)
    mass = (torch.rand(5, generator=generator, dtype=torch.float64) + 0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda v, m: project(v, m, allow_all(v))[0], (values, mass))


@pytest.mark.parametrize("norm", [REFERENCE, CONTINUOUS])
def test_band_norm_has_the_right_gradient(norm):
    """Each branch is differentiable inside; random points are inside a branch."""
    generator = torch.Generator().manual_seed(4)
    for size in (0.05, 0.5, 3.0):
        vectors = (size * torch.randn(4, 6, generator=generator, dtype=torch.float64)).requires_grad_()
        assert torch.autograd.gradcheck(lambda v: band_norm(v, norm), (vectors,))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_operators_refuse_numbers_that_are_none(bad):
    """A NaN that slips through attention would decide something."""
    poisoned = torch.tensor([0.0, bad])
    for attend in (sparsemax, softmax):
        with pytest.raises(NumericError, match="NaN or infinite"):
            attend(poisoned, allow_all(poisoned))
    with pytest.raises(NumericError, match="NaN or infinite"):
        band_norm(poisoned, REFERENCE)


def test_band_norm_refuses_vectors_whose_deviations_are_too_large():
    """Though the vectors themselves are finite."""
    with pytest.raises(NumericError, match="NaN or infinite"):
        band_norm(torch.tensor([3e38, -3e38, -3e38]), REFERENCE)


def test_a_bad_number_behind_the_mask_does_not_matter():
    """What is not allowed is never read."""
    poisoned = torch.tensor([0.0, float("nan")])
    assert sparsemax(poisoned, torch.tensor([True, False])).tolist() == [1.0, 0.0]
    assert softmax(poisoned, torch.tensor([True, False])).tolist() == [1.0, 0.0]


def test_a_row_without_allowed_entries_is_refused():
    """There is no point in an empty simplex."""
    nothing = torch.zeros(2, dtype=torch.bool)
    for attend in (sparsemax, softmax):
        with pytest.raises(NumericError, match="no allowed entry"):
            attend(torch.zeros(2), nothing)


def test_band_norm_of_zero_alternates_with_the_reference_lift():
    """A lesion can leave a norm nothing to read: even places take the positive mass, odd the negative."""
    assert band_norm(torch.zeros(4), REFERENCE).tolist() == [0.5, -0.5, 0.5, -0.5]


def test_band_norm_of_zero_is_zero_with_the_continuous_lift():
    """Both sides are lifted evenly and cancel."""
    assert band_norm(torch.zeros(4), CONTINUOUS).tolist() == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("norm", [REFERENCE, CONTINUOUS])
def test_band_norm_leaves_a_vector_inside_the_band_alone(norm):
    """Masses 1.5 and 1.5 lie between 1 and 2."""
    inside = torch.tensor([1.0, 0.5, -1.5, 0.0]).double()
    assert agree(band_norm(inside, norm), inside)


@pytest.mark.parametrize("norm", [REFERENCE, CONTINUOUS])
def test_band_norm_cuts_a_side_above_the_band_by_projection(norm):
    """Masses of 5 on each side are projected to 2."""
    result = band_norm(torch.tensor([4.0, 1.0, -5.0, 0.0]).double(), norm)
    assert agree(result, [2.0, 0.0, -2.0, 0.0])


def test_the_reference_lift_adds_the_missing_mass_over_the_positive_places():
    """Side (1/4, 1/8) of mass 3/8 gets 5/16 on each of its two places; the sums are exact, so is the zero."""
    result = band_norm(torch.tensor([0.25, 0.125, -0.375, 0.0]), REFERENCE)
    assert result.tolist() == [0.5625, 0.4375, -1.0, 0.0]


def test_only_the_reference_lift_jumps_where_a_coordinate_crosses_zero():
    """A step across zero moves the reference lift by a quarter or more, the continuous one hardly."""
    before, after = (
        torch.tensor([0.2, step, -0.2 - step, 0.0], dtype=torch.float64) for step in (-1e-6, 1e-6)
    )
    jumped, moved = (
        (band_norm(after, norm) - band_norm(before, norm)).abs().max() for norm in (REFERENCE, CONTINUOUS)
    )
    assert jumped > 0.25
    assert moved < 1e-4


@given(st.lists(st.integers(-64, 64).map(lambda n: n / 32), min_size=6, max_size=6), st.integers(0, 5))
def test_the_continuous_lift_moves_no_more_than_a_multiple_of_the_input(values, place):
    """Continuity as a law: a step of 2⁻¹⁰ in one coordinate moves the output by at most eight times that."""
    before = torch.tensor(values, dtype=torch.float64)
    after = before.clone()
    after[place] += 2**-10
    moved = (band_norm(after, CONTINUOUS) - band_norm(before, CONTINUOUS)).abs().max()
    assert moved.item() <= 8 * 2**-10


def test_activations_are_what_their_names_say():
    """Each on a negative and a positive number."""
    values = torch.tensor([-2.0, 3.0]).double()
    assert activate(values, Relu()).tolist() == [0.0, 3.0]
    assert agree(activate(values, LeakyRelu(Fraction(1, 100))), [-0.02, 3.0])
    normal = 0.5 * (1 + torch.erf(values / 2**0.5))
    assert agree(activate(values, Gelu(GeluForm.EXACT)), values * normal)
    tanh = 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (values + 0.044715 * values**3)))
    assert agree(activate(values, Gelu(GeluForm.TANH)), values * tanh)


def test_shapes_in_annotations_are_enforced():
    """Here and in the tests of training, by night in all; otherwise torch would stretch the mask."""
    with pytest.raises(TypeCheckError, match="softmax"):
        softmax(torch.zeros(2, 3), torch.ones(1, 3, dtype=torch.bool))
