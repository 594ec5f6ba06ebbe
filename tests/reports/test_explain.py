"""One prompt explained: the numbers add up, and prompts are found by place, name and number."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import viewed
from bundle_maker import fitting, proving
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import whole
from circuitproof.errors import InputError, InvalidError, OverdueError
from circuitproof.models.operators import Attention, LayerNorm, NoNorm
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Pace
from circuitproof.proof.known import is_changed
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.regions.disturbed import disturb_residual
from circuitproof.proof.regions.radius import Bracket
from circuitproof.proof.regions.regions import Unsearched
from circuitproof.reports.bundle_view import Uncomputed, Unjudged, tell
from circuitproof.reports.explain import explain, find_prompt
from circuitproof.reports.page import bundle_text
from circuitproof.reports.parts.explanation import explained
from circuitproof.reports.plain import WIDTH, as_text
from circuitproof.reports.words import prompt_text
from circuitproof_check.main import Beside, Outcome, Report
from hand_models import DIRECT, adder_claim, circuit_of, freeze, table_task
from models import random_model, tiny_architecture

SEEDS = viewed.seeds()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_told_sums_exactly_to_the_margin(seed):
    """The terms of an explanation are the margin, and the JSON has them exactly."""
    found = explain(viewed.view_of(seed), "#0")
    assert sum(share for _, share in found.terms()) == found.cell.margin
    told = found.to_json()
    last = [Fraction(x) for edge, x in told["contributions"].items() if edge.endswith("-> logits")]
    assert sum(last) + Fraction(told["own"]["logits"]) == Fraction(told["margin"])


def test_what_another_circuit_decides_is_told_beside(tmp_path):
    """Where agreement with it is claimed."""
    write_bundle(tmp_path / "bundle", prove(adder_claim(Agreement(circuit_of(DIRECT)))))
    found = explain(tell(tmp_path / "bundle"), "#0")
    assert found.to_json()["decision"] != found.to_json()["beside"]["the other circuit"]
    assert "the other circuit" in as_text(explained("The prompt", found))


@pytest.mark.parametrize("norm", [NoNorm(), LayerNorm(Fraction(1, 1000))], ids=["no norm", "LayerNorm"])
def test_an_enclosed_bundle_is_explained_in_midpoints(norm, tmp_path):
    """Decision, margin, flips and attention are those of the engine; what is not known is said."""
    sizes = tiny_architecture(attention=Attention.SOFTMAX, norm=norm)
    frozen = freeze(random_model(replace(sizes, vocabulary=5, layers=1, heads=1)))
    task = table_task({(1, 2): 1, (3, 4): 0}, candidates=(0, 1, 2))
    numbers = EnclosedNumbers()
    claim = Claim(frozen, whole(frozen.graph), task, (Necessity(), Faithfulness()), numbers)
    battery = prove(claim)
    write_bundle(tmp_path / "bundle", battery)
    view = tell(tmp_path / "bundle")
    own = battery.folded.of(claim.circuit)
    found = explain(view, "#1")
    assert found.cell.logits == own[1].midpoints
    assert found.to_json()["decision"] == [own[1].leader]
    (looks,) = found.readings
    lost = 1 - sum(weight for _, weight in looks.weights)
    assert 0 <= lost <= Fraction(2, 1 << battery.claim.arithmetic.precision)  # each of two is rounded down
    text = as_text(explained("The prompt", found))
    assert "± " in text
    assert "divided among edges only where it is exact" in " ".join(text.split())
    wanted = "is level or ahead" if isinstance(norm, NoNorm) else "not known: a norm reads"
    assert wanted in " ".join(text.split())
    page = " ".join(bundle_text(view).split())
    assert "margins and weights of heads on this page are midpoints" in page
    assert "Numbers are enclosed" in page
    assert "All numbers are exact" not in page
    flips = {edge: set(needs.flips) for edge, needs in view.numbers.needs.items()}
    for edge, lesion in zip(claim.circuit, claim.circuit.lesions(), strict=True):
        pairs = zip(own, battery.folded.of(lesion), strict=True)
        assert flips[edge] == {x for x, (one, other) in enumerate(pairs) if is_changed(one, other) is True}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_prompt_explained_alone_is_as_among_the_others(seed):
    """Cells are found among all prompts, numbers of one prompt alone: they are the same."""
    view = viewed.view_of(seed)
    found = explain(view, "#0")
    assert view.numbers.cells[found.number].fold == found.cell.fold
    assert found.shared == view.numbers.cell_of.count(found.number)
    needed = {edge for edge, needs in view.numbers.needs.items() if 0 in needs.flips or 0 in needs.ties}
    assert found.needed is None or set(found.needed) == needed


@pytest.mark.parametrize("seed", SEEDS)
def test_an_explanation_fits_80_columns(seed):
    """It is read on a terminal."""
    text = as_text(explained("The prompt", explain(viewed.view_of(seed), "#0")))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "sum: the margin" in text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_prompt_is_found_by_place_names_and_numbers(seed):
    """All three spell the same prompt."""
    bundle = viewed.view_of(seed).bundle
    for place, prompt in enumerate(bundle.domain.prompts[:3]):
        assert find_prompt(bundle, f"#{place}") == prompt
        assert find_prompt(bundle, prompt_text(bundle.task, prompt)) == prompt
        assert find_prompt(bundle, " ".join(map(str, prompt))) == prompt


@pytest.mark.parametrize(
    ("spelled", "says"),
    [
        ("#9999", "there is no prompt #9999"),
        ("", "the prompt has 0 tokens"),
        ("zebra", "'zebra' is no token"),
    ],
)
def test_what_is_no_prompt_is_refused(spelled, says):
    """The sentence says what was found and what is wanted."""
    with pytest.raises(InputError, match=says):
        find_prompt(viewed.view_of(SEEDS[0]).bundle, spelled)


def banded():
    """Return the views in which a norm reads the final residual."""
    return [view for view in map(viewed.view_of, SEEDS) if view.bundle.frozen.architecture.has_norm]


def test_what_flips_a_decision_after_a_norm_is_searched_for():
    """A perturbation that is told changes the decision, and its size is in the bounds that are told."""
    views = banded()
    assert views
    for view in views:
        found = explain(view, "#0")
        if not found.cell.fold.is_clear:
            assert found.searched is None
            continue
        bracket = found.searched
        assert json.loads(json.dumps(found.to_json()["searched"]))["attained"] == bracket.is_attained
        if bracket.eta is not None:
            bundle = view.bundle
            (function,) = disturb_residual(
                bundle.frozen, bundle.task.candidates, bundle.circuit, (found.prompt,)
            )
            assert function.fold(bracket.eta).decision != found.cell.fold.decision
            assert max(map(abs, bracket.eta)) >= bracket.lower
            assert "η moves" in as_text(explained("The prompt", found))


def test_a_deadline_that_has_come_leaves_the_flip_open():
    """The rest of the explanation does not depend on it."""
    for view in banded()[:1]:
        found = explain(view, "#0", Pace(deadline=0.0))
        assert found.searched is None
        assert found.to_json()["searched"] is None
        assert sum(share for _, share in found.terms()) == found.cell.margin


@pytest.mark.parametrize(
    ("bracket", "says"),
    [
        (Bracket(Fraction(1), None, is_attained=False, eta=None, tree=None), "nothing at the final residual"),
        (
            Bracket(Fraction(1, 2), None, is_attained=False, eta=None, tree=Unsearched(Fraction(1, 2))),
            "no perturbation of the final residual below 0.5 does; larger ones are not known",
        ),
        (
            Bracket(Fraction(1, 4), Fraction(1), is_attained=True, eta=(Fraction(1),), tree=None),
            "no perturbation of the final residual below 0.25 does, and between them it is open",
        ),
        (
            Bracket(Fraction(1), Fraction(1), is_attained=True, eta=(Fraction(1),), tree=None),
            "the exact radius",
        ),
    ],
)
def test_each_end_of_a_search_has_its_words(bracket, says):
    """Known exactly, between bounds, from below only, or that nothing flips it."""
    found = replace(explain(viewed.view_of(SEEDS[0]), "#0"), searched=bracket)
    assert says in " ".join(as_text(explained("The prompt", found)).split())


def test_a_prompt_that_the_claim_does_not_speak_of_has_no_answer():
    """Its numbers are exact all the same, as long as the bundle has the weights."""
    view = viewed.view_of(SEEDS[0])
    prompts = view.bundle.domain.prompts
    other = next(prompt[:1] for prompt in prompts if prompt[:1] not in prompts)
    found = explain(view, " ".join(map(str, other)))
    assert (found.answer, found.number) == (None, None)
    assert "not claimed" in as_text(explained("The prompt", found))


def test_nothing_of_an_invalid_bundle_is_explained(tmp_path):
    """Nothing in it can be relied on."""
    unjudged = Unjudged(tmp_path, Report(Outcome.INVALID, "a rule is broken"))
    with pytest.raises(InvalidError, match="a rule is broken"):
        explain(unjudged, "#0")


def test_what_is_not_judged_to_its_end_is_not_called_invalid(tmp_path):
    """There is no answer yet, and the sentence says how to get one."""
    written = proving(fitting(), "equivalence").write(tmp_path / "bundle")
    with pytest.raises(OverdueError, match="allow more of them with --operations"):
        explain(tell(written, Beside(operations=10)), "#0")


def test_a_view_without_numbers_has_a_page():
    """A claim may be about what cannot be computed; the page then says why there are no numbers."""
    from circuitproof.reports.page import bundle_page, bundle_text

    view = replace(viewed.view_of(SEEDS[0]), numbers=Uncomputed("softmax has no exact value"))
    assert "softmax has no exact value" in bundle_page(view)
    assert "softmax has no exact value" in bundle_text(view)
