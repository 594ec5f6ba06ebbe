from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError
from circuitproof.files.codec import to_json
from circuitproof.models.architecture import tensor_shapes
from circuitproof_lab.train.norm_schedule import FadeSteps, NormReader, Schedule, Site, all_sites
from floats import agree
from models import NORMS, tiny_architecture

ORDER = (NormReader.MLP, NormReader.ATTENTION, NormReader.LOGITS)

changes = st.fixed_dictionaries(
    {
        "order": st.permutations(ORDER).map(tuple),
        "begin": st.integers(1, 20),
        "fade": st.integers(1, 20),
        "interval": st.integers(1, 40),
    }
)


def schedule(**changes) -> Schedule:
    """Return a short schedule, with something changed."""
    return Schedule(**({"order": ORDER, "begin": 3, "fade": 2, "interval": 3, "window": 4} | changes))


def test_norms_are_listed_by_depth():
    """What is measured of them is read from the tokens up."""
    names = ["attention.0.norm", "mlp.0.norm", "attention.1.norm", "mlp.1.norm", "logits.norm"]
    assert list(map(str, all_sites(2))) == names


def test_every_norm_of_a_model_has_a_site_of_its_name():
    """A norm that nobody knew of would be left out of the fold."""
    shapes = tensor_shapes(tiny_architecture(norm=NORMS[1]))
    named = {name.removesuffix(".scale") for name in shapes if name.endswith(".norm.scale")}
    assert {str(site) for site in all_sites(2)} == named
    assert len(all_sites(2)) == len(named) == 5


@given(changes, st.integers(1, 5))
def test_norms_begin_to_fade_one_after_another_in_the_order_declared(changed, layers):
    """The interval says when the next begins, whether or not the former is gone."""
    drawn = schedule(**changed)
    spans = drawn.spans(layers)
    assert set(spans) == set(all_sites(layers))
    assert list(spans) == sorted(spans, key=lambda site: (drawn.order.index(site.reader), site.layer))
    first = next(iter(spans.values()))
    assert first.first == drawn.begin
    for before, after in pairwise(spans.values()):
        assert after.first - before.first == drawn.interval


@given(changes)
def test_a_norm_fades_from_none_to_all_in_equal_parts(changed):
    """Before its span it is whole, at the last step of it and ever after it is gone."""
    drawn = schedule(**changed)
    for span in drawn.spans(2).values():
        blends = [span.blend(step) for step in range(span.last + 3)]
        assert all(blend <= 0 for blend in blends[: span.first])
        assert all(blend >= 1 for blend in blends[span.last :])
        rises = [after - before for before, after in pairwise(blends[span.first - 1 : span.last + 1])]
        assert agree(rises, [1 / drawn.fade] * drawn.fade)


def test_the_spans_of_a_small_model_are_these():
    """Worked out by hand."""
    assert schedule().spans(1) == {
        Site(NormReader.MLP, 0): FadeSteps(3, 4),
        Site(NormReader.ATTENTION, 0): FadeSteps(6, 7),
        Site(NormReader.LOGITS): FadeSteps(9, 10),
    }


def test_the_papers_schedule_can_be_written_down():
    """GPT-2's 25 norms, 500 steps each, the last of them gone at step 3,400."""
    spans = schedule(begin=501, fade=500, interval=100).spans(12)
    assert len(spans) == 25
    assert max(span.last for span in spans.values()) == 3400
    assert sum(0 < span.blend(1510) < 1 for span in spans.values()) == 5


def test_a_run_must_last_until_the_last_norm_is_gone():
    """The model that is handed over would still have a part of a norm."""
    schedule().refuse_too_short(1, 11)
    with pytest.raises(
        DeclarationError, match=r"gone at step 10, but there are only 10 steps; take at least 11 steps"
    ):
        schedule().refuse_too_short(1, 10)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"order": ORDER[:2]}, "order is mlp, attention; want each of mlp, attention, logits just once"),
        ({"order": (*ORDER, NormReader.MLP)}, "order is mlp, attention, logits, mlp; want each"),
        ({"begin": 0}, "begin is 0, want at least 1"),
        ({"fade": 0}, "fade is 0, want at least 1"),
        ({"interval": 0}, "interval is 0, want at least 1"),
        ({"window": 0}, "window is 0, want at least 1"),
    ],
)
def test_a_schedule_that_cannot_be_followed_is_refused(changed, sentence):
    """A norm without a measured deviation, or one that never fades, must not come up late in a run."""
    with pytest.raises(DeclarationError, match=sentence):
        schedule(**changed)


def test_a_schedule_is_written_whole():
    """The run folder says how the norms were to fade."""
    assert to_json(schedule()) == {
        "order": ["mlp", "attention", "logits"],
        "begin": 3,
        "fade": 2,
        "interval": 3,
        "window": 4,
    }
