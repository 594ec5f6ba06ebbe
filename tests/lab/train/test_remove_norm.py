from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import InputError, NumericError
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import StoredModel, model_files
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.train.data import CorpusData, TaskData
from circuitproof_lab.train.loop import NextToken, TrainingPlan, Watcher, fit
from circuitproof_lab.train.norm_schedule import NormReader, Schedule, Site, all_sites
from circuitproof_lab.train.remove_norm import (
    Fading,
    FadingNorm,
    deviations_of,
    fading_norms,
    fix_norms,
    make_fading,
    refuse_bad_deviations,
)
from circuitproof_lab.train.windows import NO_TARGET, Batch
from corpora import corpus_data
from floats import agree
from models import ACTIVATIONS, NORMS, PROGRAMS, random_model, random_tokens, tiny_architecture

LAYER_NORM = NORMS[1]
SIZES = tiny_architecture(norm=LAYER_NORM)
SCHEDULE = Schedule(
    order=(NormReader.MLP, NormReader.ATTENTION, NormReader.LOGITS), begin=3, fade=2, interval=3, window=2
)
PLAN = TrainingPlan(
    seed=1,
    steps=18,
    learning_rate=0.01,
    warmup=2,
    weight_decay=0.01,
    gradient_limit=1.0,
    initial_deviation=0.0,
    evaluate_every=6,
    checkpoint_every=4,
)
MLP_0 = Site(NormReader.MLP, 0)
LOGITS = Site(NormReader.LOGITS)


class Killed(Exception):  # noqa: N818  # not an error of the program under test
    """Stands in for a kill between two steps."""


def text() -> CorpusData:
    """Return a text that repeats with period seven."""
    return corpus_data(torch.arange(120) % 7, 5, 64, 1)


def good_deviations(layers: int = 2) -> dict[Site, float]:
    """Return a deviation for every norm, all different."""
    return {site: 0.5 + 0.25 * place for place, site in enumerate(all_sites(layers))}


@pytest.mark.parametrize("programs", [{}, PROGRAMS], ids=["neural", "programs"])
@pytest.mark.parametrize(("attention", "activation"), list(product(Attention, ACTIVATIONS)))
def test_a_norm_that_has_not_begun_to_fade_is_layer_norm_bit_for_bit(attention, activation, programs):
    """A removal starts from the model that it was given."""
    sizes = tiny_architecture(norm=LAYER_NORM, attention=attention, activation=activation)
    plain, fading = (random_model(sizes, 4, programs) for _ in range(2))
    make_fading(fading)
    assert torch.equal(plain(random_tokens(sizes)), fading(random_tokens(sizes)))


def test_a_fading_model_has_the_same_parameters_in_the_same_order():
    """So that files, optimizer and gradients mean the same for both."""
    plain, fading = random_model(SIZES), random_model(SIZES)
    make_fading(fading)
    assert model_files(StoredModel(plain, None)) == model_files(StoredModel(fading, None))
    assert [name for name, _ in fading.named_parameters()] == [name for name, _ in plain.named_parameters()]


@given(st.floats(0.01, 0.99), st.floats(0.1, 10), st.integers(0, 100))
def test_a_fading_norm_blends_two_quotients(blend, deviation, seed):
    """The input's own deviation and the fixed one, then scale and shift, straight from the definition."""
    norm = FadingNorm(random_model(SIZES, seed).mlps[0].norm, LAYER_NORM).double()
    norm.blend = blend
    norm.deviation.fill_(deviation)
    inputs = torch.randn(1, 1, 3, 2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    for row, found in zip(inputs.reshape(-1, 4), norm(inputs).reshape(-1, 4), strict=True):
        centred = row - sum(row) / 4
        own = (sum(centred**2) / 4 + float(LAYER_NORM.epsilon)) ** 0.5
        quotient = (1 - blend) * centred / own + blend * centred / norm.deviation
        assert agree(found, quotient * norm.scale + norm.shift)


@given(st.integers(0, 100), st.floats(-3, 3))
def test_a_norm_that_is_gone_is_an_affine_map(seed, weight):
    """It commutes with every mixture of inputs; LayerNorm does not."""
    norm = FadingNorm(random_model(SIZES, seed).mlps[0].norm, LAYER_NORM).double()
    norm.blend = 1.0
    norm.deviation.fill_(0.7)
    one, other = torch.randn(
        2, 1, 1, 3, 2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    mixed = norm(weight * one + (1 - weight) * other)
    assert agree(mixed, weight * norm(one) + (1 - weight) * norm(other))


def test_the_deviation_is_a_running_average_until_its_norm_begins_to_fade():
    """First the plain mean, then over the window; from the first step of the span on it stands still."""
    model = random_model(SIZES)
    make_fading(model)
    model.double()
    goal, norm = Fading(text(), SCHEDULE), fading_norms(model)[LOGITS]
    first = SCHEDULE.spans(2)[LOGITS].first
    expected: list[float] = []
    for step in range(first + 3):
        list(goal.losses(model, step))
        seen = norm.seen.mean().item()
        match step:
            case 0:
                expected.append(seen)
            case _ if step < first:
                expected.append((expected[-1] + seen) / 2)
            case _:
                expected.append(expected[-1])
        assert agree(norm.deviation, expected[-1])
    assert len(set(expected)) > 3


class Padded:
    """A batch of a long prompt and a short one, which is padded behind its only target."""

    alphabet = None

    def batch(self, step: int) -> Batch:  # noqa: ARG002  # the same at every step
        """Return the batch."""
        targets = torch.full((2, 4), NO_TARGET)
        targets[0, 3] = targets[1, 1] = 2
        return Batch(torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]]), targets)

    def fixed_batch(self) -> Batch:
        """Return the same."""
        return self.batch(0)

    def measure_whole(self, model) -> dict[str, float]:
        return self.evaluate(model)

    def evaluate(self, model) -> dict[str, float]:  # noqa: ARG002  # nothing to measure
        """Return nothing."""
        return {}


def test_padding_does_not_count_and_for_the_logits_only_what_is_asked():
    """What a norm does behind the end of a prompt, or to logits that nobody reads, is of no matter."""
    model = random_model(SIZES)
    make_fading(model)
    model.double()
    list(Fading(Padded(), SCHEDULE).losses(model, 0))
    norms = fading_norms(model)
    for site, norm in norms.items():
        seen = norm.seen[0, 0]
        counted = [seen[0, 3], seen[1, 1]] if site == LOGITS else [*seen[0], *seen[1, :2]]
        assert agree(norm.deviation, float(sum(counted)) / len(counted))


def test_looking_at_the_model_measures_nothing():
    """An evaluation must not move the averages: how often one looks changes nothing."""
    model = random_model(SIZES)
    make_fading(model)
    goal = Fading(text(), SCHEDULE)
    list(goal.losses(model, 0))
    before = deviations_of(model)
    assert goal.evaluate(model)["norms left"] == 5
    assert deviations_of(model) == before


def run(checkpoints, *, stop_after=None):
    """Fade the norms of a small model, if wanted only to a step."""

    def on_step(step: int, _loss: float) -> None:
        if step == stop_after:
            raise Killed

    model = random_model(SIZES, 3)
    make_fading(model)
    trained = fit(model, Fading(text(), SCHEDULE), PLAN, checkpoints, Watcher(on_step))
    return model_files(StoredModel(model, None)), deviations_of(model), trained.evaluations


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Return what a run without a stop ends with."""
    return run(tmp_path_factory.mktemp("whole"))


def test_norms_are_counted_as_they_go(uninterrupted):
    """The evaluations say how far a removal is."""
    found = [(evaluation.step, evaluation.measures["norms left"]) for evaluation in uninterrupted[2]]
    assert found == [(6, 4), (12, 2), (18, 0)]


@pytest.mark.parametrize("stop", [3, 4, 7, 9, 14, 18])
def test_a_removal_stopped_after_any_step_ends_with_the_same_bits(tmp_path, uninterrupted, stop):
    """The averages come back with the weights: a norm fixed before the stop is fixed at the same number."""
    with pytest.raises(Killed):
        run(tmp_path, stop_after=stop)
    assert run(tmp_path) == uninterrupted


def test_a_checkpoint_without_the_averages_is_refused(tmp_path):
    """They cannot be measured again: the model that they were measured on is gone."""
    fit(random_model(SIZES, 3), NextToken(text()), replace(PLAN, steps=4), tmp_path, Watcher())
    with pytest.raises(InputError, match=r"cannot read .*buffers.safetensors"):
        run(tmp_path)


def test_both_tasks_can_be_faded_on_together():
    """The task loss and its gradient reach every parameter, the scales and shifts of norms included."""
    sizes = replace(SIZES, vocabulary=32, context=6)
    model = random_model(sizes)
    make_fading(model)
    goal = Fading(TaskData([toy_quotes(), toy_brackets()], 8, 1), SCHEDULE)
    for step in range(17):
        (loss,) = goal.losses(model, step)
    loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert set(goal.evaluate(model)) > {"quotes accuracy", "brackets accuracy", "norms left"}


def test_fixed_norms_have_the_deviations_given():
    """What was written is what is read back."""
    model = random_model(SIZES)
    fix_norms(model, good_deviations())
    assert deviations_of(model) == good_deviations()
    assert all(norm.blend >= 1 for norm in fading_norms(model).values())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -0.5])
def test_a_deviation_that_nobody_can_divide_by_is_refused(value):
    """NaN, infinity, zero and negative numbers, each with the name of the norm."""
    with pytest.raises(NumericError, match=rf"the deviation of mlp\.0\.norm is {value}, want a positive"):
        fix_norms(random_model(SIZES), good_deviations() | {MLP_0: value})


def test_a_deviation_that_was_never_measured_is_refused():
    """A model that was prepared but never run has none."""
    model = random_model(SIZES)
    make_fading(model)
    with pytest.raises(NumericError, match=r"the deviation of attention\.0\.norm is 0\.0"):
        deviations_of(model)


def test_a_missing_deviation_and_one_too_many_are_refused():
    """Each norm has one, and nothing else has."""
    short = {site: value for site, value in good_deviations().items() if site != MLP_0}
    with pytest.raises(InputError, match=r"there is no deviation for mlp\.0\.norm"):
        refuse_bad_deviations(short, 2)
    with pytest.raises(InputError, match=r"a deviation for attention\.1\.norm, but the model has only 1"):
        refuse_bad_deviations(good_deviations(2), 1)


@pytest.mark.parametrize("norm", [NORMS[0], NORMS[2]])
def test_only_layer_norm_can_be_removed(norm):
    """The affine map with a fixed deviation stands for LayerNorm and for nothing else."""
    with pytest.raises(InputError, match=f"norm is {type(norm).__name__}, want LayerNorm"):
        make_fading(random_model(tiny_architecture(norm=norm)))


def test_a_model_that_was_not_prepared_cannot_fade():
    """The sentence says what to do."""
    with pytest.raises(
        InputError, match=r"attention\.0\.norm cannot fade; prepare the model with make_fading"
    ):
        fading_norms(random_model(SIZES))


def test_an_average_needs_something_seen():
    """Nothing is averaged silently."""
    norm = FadingNorm(random_model(SIZES).norm, LAYER_NORM)
    with pytest.raises(NumericError, match="asked for before the model ran"):
        norm.mean_seen(torch.ones(1, 1, dtype=torch.bool))
