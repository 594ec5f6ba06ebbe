"""Views of every kind of claim, made once: random asks that the prover has answered."""

import json
import tempfile
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.reports.bundle_view import BundleView, tell
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.names import TokenNames
from circuitproof.tasks.quotes import toy_quotes
from golden import FILE
from hand_models import DOUBLE, QUOTE_EDGES, SINGLE, circuit_of, freeze, quote_model, rows
from random_claims import CYCLE, known_ask, told


def seeds(each: int = 3) -> list[int]:
    """Return some asks of every theme that the prover does not refuse."""
    answered = [int(seed) for seed, said in json.loads(FILE.read_text()).items() if "refused" not in said]
    themes = [[seed for seed in answered if seed % len(CYCLE) == theme] for theme in range(len(CYCLE))]
    return [seed for theme in themes for seed in theme[:each]]


@cache
def bundle_of(seed: int) -> Path:
    """Return the bundle of a random ask."""
    bundle = told(known_ask(seed), Path(tempfile.mkdtemp(prefix="viewed-"))).bundle
    assert bundle is not None
    return bundle


@cache
def view_of(seed: int) -> BundleView:
    """Return the view of a random ask's bundle."""
    view = tell(bundle_of(seed))
    assert isinstance(view, BundleView)
    return view


def closing_model() -> Transformer:
    """Return a model with a program head that closes double quotes by 2, single ones by 1."""
    return quote_model({"logits.weight": rows(32, {SINGLE: (1, 0), DOUBLE: (0, 2)})})


@cache
def quotes_bundle(epsilon: Fraction) -> Path:
    """Return a bundle about a program head that closes quotes: double ones by 2, single ones by 1.

    The radius of every prompt is at least 1/3, so the claim is proved below that and refuted from there on.
    """
    frozen = freeze(closing_model(), TOY)
    claim = Claim(frozen, circuit_of(QUOTE_EDGES), toy_quotes(), four_properties(epsilon))
    bundle = Path(tempfile.mkdtemp(prefix="viewed-")) / "bundle"
    write_bundle(bundle, prove(claim))
    return bundle


@cache
def quotes_view(epsilon: Fraction) -> BundleView:
    """Return the view of such a bundle."""
    view = tell(quotes_bundle(epsilon))
    assert isinstance(view, BundleView)
    return view


def hostile(view: BundleView, text: str) -> BundleView:
    """Return a view whose every name is some text."""
    bundle = view.bundle
    names = {token: f"{text}{token}" for token in range(bundle.frozen.architecture.vocabulary)}
    strata = (f"{text}0", f"{text}1")
    domain = Domain(bundle.domain.prompts, tuple(strata[place % 2] for place in range(len(bundle.domain))))
    task = replace(bundle.task, name=text, names=TokenNames(names))
    judgement = replace(view.judgement, reason=text)
    return replace(view, bundle=replace(bundle, task=task, domain=domain), judgement=judgement)
