"""Figures are found by what files are, wherever in a folder they stand; what is not there is told."""

import json
import shutil
from fractions import Fraction

import pytest

import viewed
from circuitproof.errors import InputError
from circuitproof.reports.bundle_view import BundleView
from circuitproof_lab.figures import gallery
from circuitproof_lab.figures.gallery import KINDS, write_figures
from circuitproof_lab.figures.style import write_drawing
from run_folders import BEHAVIOUR, LESION, ROUND
from run_folders import FILES as RUN_FILES

LESIONS = [{**LESION, "worst_margin": -1.0, "where": where} for where in ("model", "circuit")]
ACCOUNT = {
    "model": "build/model",
    "variant": "BandNorm",
    "verdict": "refuted",
    "edges": 2,
    "total": {"assertions": {"norm": 4, "mlp": 0}},
    "paper_per_edge": 113000,
}
FILES = {
    "found/A/quotes/gate.result.json": RUN_FILES["A/quotes/gate.result.json"],
    "made/quotes/base.json": {**RUN_FILES["quotes/exact.json"], "name": "base"},
    "healed/seed-1/plain/migration.json": {**ROUND, "behaviours": [{**BEHAVIOUR, "lesions": LESIONS}]},
    "compared/comparison.json": RUN_FILES["comparison.json"],
    "cost.json": {"accounts": [ACCOUNT]},
    "taught/quotes/study.json": RUN_FILES["explained/study.json"],
}


@pytest.fixture
def study(tmp_path):
    """A folder as a study of several runs leaves it: runs in folders of their own, and a bundle."""
    for name, content in FILES.items():
        (tmp_path / "study" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "study" / name).write_text(json.dumps(content))
    shutil.copytree(viewed.quotes_bundle(Fraction(1, 100)), tmp_path / "study" / "proof" / "bundle")
    return tmp_path / "study"


def views():
    """Yield a bundle of every kind of claim."""
    for seed in viewed.seeds(each=1):
        yield viewed.view_of(seed)


def test_every_kind_of_figure_is_found_in_a_tree_of_runs(study, tmp_path):
    """One command for all, as SVG and as PNG; names say where a figure comes from."""
    found = write_figures([study], tmp_path / "figures")
    assert {one.kind for one in found if one.name} == {"modes", *KINDS}
    names = [one.name for one in found]
    assert {"study-found-frontier", "study-healed-lesions", "study-proof-bundle-radii"} <= set(names)
    assert len(set(names)) == len(names)
    files = {file.name for file in (tmp_path / "figures").iterdir()}
    assert files == {f"{name}.{ending}" for name in names for ending in ("svg", "png")}


def test_what_is_not_there_is_told_in_a_sentence(study, tmp_path):
    """With the command that makes it."""
    found = write_figures([study / "proof"], tmp_path / "figures")
    lacks = {one.kind: one.reason for one in found if one.name is None}
    assert set(lacks) == {"timeline", "frontier", "lesions", "changes", "cost"}
    assert all("circuitproof" in reason for reason in lacks.values())
    with pytest.raises(InputError, match="nothing to draw; want a run, a bundle, or what circuitproof cost"):
        write_figures([study / "taught"], tmp_path / "more")
    with pytest.raises(InputError, match="there is no such run, bundle or file"):
        write_figures([study / "nowhere"], tmp_path / "more")


def test_a_bundle_that_does_not_hold_is_not_drawn(study, tmp_path):
    """A figure of it would look like a result."""
    (study / "proof" / "bundle" / "claim.json").write_text("{}")
    found = write_figures([study], tmp_path / "figures")
    assert [one.name for one in found if one.kind in ("circuit", "structure", "radii")] == [None] * 3


def test_two_sources_of_one_name_have_figures_of_two_names(study, tmp_path):
    """None overwrites another."""
    shutil.copytree(study, tmp_path / "again" / "study")
    found = write_figures([study / "cost.json", tmp_path / "again" / "study" / "cost.json"], tmp_path / "out")
    assert [one.name for one in found if one.kind == "cost"] == ["cost-cost", "cost-cost-2"]


@pytest.mark.slow
def test_every_kind_of_claim_can_be_drawn(tmp_path, monkeypatch):
    """Lists and patterns, with norms and without, proved and refuted; in one of the two formats."""

    def write_first(drawing, *paths):
        write_drawing(drawing, paths[0])

    monkeypatch.setattr(gallery, "write_drawing", write_first)
    for place, view in enumerate(views()):
        assert isinstance(view, BundleView)
        found = write_figures([view.bundle.path], tmp_path / f"{place}")
        assert any(one.kind == "circuit" and one.name for one in found)
