"""API, terminal, page and bundle say the same."""

import json
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import circuitproof as cp
from circuitproof.cli.main import app
from circuitproof.reports.results import verification_said
from hand_models import QUOTE_EDGES


def said(*words):
    """Return what a command prints."""
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False).output


def test_api_terminal_and_bundle_say_the_same(answers):
    """Verdicts, remarks and numbers of a bundle are those of each way to look at it."""
    bundle = answers.bundle
    written = json.loads((bundle / "certificate.json").read_text())["answers"]
    stated = [(one["property"]["kind"], one["verdict"], one["remarks"]) for one in written]
    assert stated == [
        (str(one.prop.kind), str(one.verdict), [str(remark) for remark in one.remarks])
        for one in answers.answers
    ]
    assert stated == [(one.kind, str(one.verdict), list(one.remarks)) for one in cp.check(answers).properties]
    told = json.loads(said("show", bundle, "--json"))["answers"]
    assert stated == [(one["property"].split(" at ")[0], one["verdict"], one["remarks"]) for one in told]
    page = cp.report(answers)
    assert page.text == said("show", bundle)
    for kind, verdict, _ in stated:
        assert any(kind in line and verdict in line for line in page.text.splitlines())
        assert f'<span class="badge {verdict}">' in page.html


def test_a_terminal_prints_what_a_notebook_shows(model, answers, tmp_path, monkeypatch):
    """The same table and the same sentences: said once, printed or shown."""
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "circuit.json").write_text(json.dumps(cp.circuit(model, QUOTE_EDGES).to_json()))
    words = ["--model", model.path, "--task", "quotes", "--circuit", tmp_path / "circuit.json"]
    printed = said("verify", *words, "--epsilon", "1/100")
    for one in verification_said(answers):
        cells = [one] if isinstance(one, str) else [cell for row in getattr(one, "rows", ()) for cell in row]
        assert all(cell in printed for cell in cells)


def test_a_prompt_is_explained_by_place_text_or_tokens(answers):
    """All three are the explanation that the command prints, with exact numbers."""
    prompt = answers.battery.claim.task.prompts[3]
    found = cp.explain(answers, 3)
    assert found.to_json() == cp.explain(answers, prompt).to_json() == cp.explain(answers, "#3").to_json()
    assert repr(found) + "\n" == said("explain", "#3", "--bundle", answers.bundle)
    assert json.loads(said("explain", "#3", "--bundle", answers.bundle, "--json")) == found.to_json()
    assert "What each edge brings to the margin" in found._repr_html_()


def test_a_page_is_shown_in_a_frame_and_written(model, answers, tmp_path):
    """The whole page, as the command writes it."""
    page = cp.report(answers, against=model, out=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html
    assert page.says == "valid"
    assert repr(page) + "\n" == page.text
    assert page._repr_html_().startswith("<iframe srcdoc=")


def test_nothing_of_an_invalid_bundle_is_explained(answers):
    """The error has its own class."""
    (answers.bundle / "domain.json").write_bytes(b"{}")
    with pytest.raises(cp.InvalidError, match="nothing of"):
        cp.explain(answers, 0)


def test_logits_are_given_for_one_prompt_or_several(model, monkeypatch):
    """A text or a list of numbers is one; of each candidate the rational and the nearest double."""
    found = cp.logits(model, ["<BOS> ' A", [1, 10, 6]], candidates=["'", 10])
    assert found.values == ((1, 0), (0, 1))
    assert found.floats() == ((1.0, 0.0), (0.0, 1.0))
    assert cp.logits(model, [1, 10, 6], candidates=[9]).values == ((0,),)
    assert len(cp.logits(model, "1 9").values[0]) == 32
    without = cp.logits(model, "1 9", cp.circuit(model, ["embed -> head 0.0"]), [9])
    assert without.values == ((0,),)
    assert "<BOS> ' A" in repr(found)
    assert "nearest double" in found._repr_html_()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    assert found.to_frame()["logit"] == [1.0, 0.0, 0.0, 1.0]
