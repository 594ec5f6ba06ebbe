"""Pages of every kind of claim: whole, closed, and saying what the bundle says."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

import viewed
from circuitproof.bundle.opening import open_bundle
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import shown
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.fold import fold
from circuitproof.reports.bundle_view import Unjudged, tell
from circuitproof.reports.data import view_to_json
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.page import PARTS, bundle_page, bundle_text
from circuitproof.reports.plain import WIDTH
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.names import TokenNames, named
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Beside, Outcome, inspect
from page_reader import EVIL, read

SEEDS = viewed.seeds()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_page_is_whole_and_says_every_verdict_and_remark(seed):
    """Whoever reads only the page knows what was answered, and what that does not say."""
    view = viewed.view_of(seed)
    said = " ".join(" ".join(read(bundle_page(view)).text).split())
    assert view.judgement.outcome.name.lower() in said
    for answer in view.bundle.answers:
        assert answer.prop.name in said
        assert answer.verdict in said
        assert all(said.count(remark) > 1 for remark in answer.remarks)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_page_refers_to_nothing_outside_itself(seed):
    """It opens from disk for ever, and looking at it tells nobody."""
    page = bundle_page(viewed.view_of(seed))
    assert not re.search(r"https?:|//[a-z]|url\(|@import|<link|<iframe", page)
    reader = read(page)
    targets = {value["id"] for _, value in reader.tags if "id" in value}
    for _, attributes in reader.tags:
        assert "src" not in attributes
        href = attributes.get("href")
        assert href is None or href[1:] in targets


@pytest.mark.parametrize("seed", SEEDS)
def test_identifiers_are_unique(seed):
    """A link leads to one place."""
    found = [value["id"] for _, value in read(bundle_page(viewed.view_of(seed))).tags if "id" in value]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_text_fits_80_columns_and_says_every_verdict(seed):
    """The terminal says what the page says."""
    view = viewed.view_of(seed)
    text = bundle_text(view)
    assert max(map(len, text.splitlines())) <= WIDTH
    said = " ".join(text.split())
    for answer in view.bundle.answers:
        assert answer.verdict in said
        assert all(remark.split(":")[0] in said for remark in answer.remarks)


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_on_the_page_are_those_of_the_circuit(seed):
    """What can be sorted and chosen equals an exact computation by the prover's own fold."""
    view = viewed.view_of(seed)
    bundle, prompts = view.bundle, view.bundle.domain.prompts
    data = json.loads(read(bundle_page(view)).data)
    if not isinstance(view.numbers, Numbers):
        assert "cells" not in data
        return
    folds = fold(bundle.frozen, bundle.task.candidates, [bundle.circuit], prompts).of(bundle.circuit)
    for place, found in enumerate(folds):
        cell = data["cells"][data["cell_of"][place]]
        first, second = sorted(found.logits, reverse=True)[:2]
        assert cell["margin"][0] == shown(first - second)
        assert len(cell["decision"].split(" = ")) == len(found.decision)


@pytest.mark.parametrize("seed", SEEDS)
def test_page_terminal_and_json_say_what_the_files_of_the_bundle_say(seed):
    """Read once more, without the product's readers: answers, edges, prompts, witnesses and their logits."""
    view = viewed.view_of(seed)
    claim, domain, certificate = (
        json.loads((view.bundle.path / name).read_text())
        for name in ("claim.json", "domain.json", "certificate.json")
    )
    told = view_to_json(view)
    data = json.loads(read(bundle_page(view)).data)
    assert told["data"] == data
    answers = certificate["answers"]
    assert [(one["verdict"], one["remarks"]) for one in told["answers"]] == [
        (one["verdict"], one["remarks"]) for one in answers
    ]
    assert all(
        one["property"].startswith(kept["property"]["kind"])
        for one, kept in zip(told["answers"], answers, strict=True)
    )
    assert data["edges"] == claim["circuit"]["edges"]
    names = TokenNames({int(token): name for token, name in claim["task"]["names"].items()})
    spelled = [[data["tokens"][token] for token in prompt] for prompt in data["prompts"]]
    assert spelled == [[named(names, token) for token in prompt] for prompt in domain["prompts"]]
    replays = [entry for one in answers for entry in replayed(one["evidence"])]
    shown_ones = [entry for one in data["witnesses"] for entry in one["shown"]]
    margins = [margin(certificate["folds"][entry["fold"]]) for entry in replays]
    assert sorted((entry["prompt"], entry["before"]["margin"]) for entry in shown_ones) == sorted(
        (entry["prompt"], size) for entry, size in zip(replays, margins, strict=True)
    )
    terminal = set(bundle_text(view).split())
    for one in answers:
        assert {one["verdict"], *one["property"]["kind"].split()} <= terminal
    assert {word for edge in data["edges"][:40] for word in edge.split()} <= terminal
    if "cells" in data:
        assert {
            data["cells"][data["cell_of"][place]]["margin"][0] for place in data["order"][:40]
        } <= terminal


def replayed(evidence):
    """Return the entries that evidence replays: at its root, under its edges, or in another circuit."""
    if "replay" in evidence:
        return evidence["replay"]
    if "circuit" in evidence:
        return evidence["evidence"].get("replay", [])
    if evidence.get("split") == "edge":
        return [entry for child in evidence["children"] for entry in child["replay"]]
    return []


def margin(logits):
    """Return by how much the largest of some rationals leads."""
    second, first = sorted(map(Fraction, logits))[-2:]
    return shown(first - second)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_there_for_some_claim_and_fails_for_none(part):
    """A part is empty or whole; none needs another."""
    made = [part(viewed.view_of(seed)) for seed in SEEDS]
    assert any(element is not None for element in made)


@pytest.mark.parametrize("seed", SEEDS)
def test_untrusted_names_are_text(seed):
    """A name cannot end a script, open an element, or turn the direction of reading."""
    view = viewed.view_of(seed)
    page = bundle_page(viewed.hostile(view, EVIL * 100))
    mild = replace(view, judgement=replace(view.judgement, reason="words"))
    reader, plain = read(page), read(bundle_page(mild))
    assert [tag for tag, _ in reader.tags if tag != "bdi"] == [tag for tag, _ in plain.tags if tag != "bdi"]
    assert "img" not in {tag for tag, _ in reader.tags}
    assert "\u202e" not in page
    assert len(page) < 40 * len(bundle_page(view))
    assert any(EVIL[:9] in name for name in json.loads(reader.data)["tokens"])


def test_of_an_invalid_bundle_nothing_is_shown_but_that(tmp_path):
    """Nothing of it can be relied on, so neither names nor numbers of it stand on a page."""
    bundle = viewed.bundle_of(SEEDS[0])
    for file in bundle.iterdir():
        content = file.read_bytes()
        (tmp_path / file.name).write_bytes(content.replace(b'"ask"', b'"bsk"'))
    view = tell(tmp_path)
    assert isinstance(view, Unjudged)
    reader = read(bundle_page(view))
    assert "INVALID" in reader.text
    assert json.loads(reader.data) == {}
    assert "bsk" not in "".join(reader.text)
    assert bundle_text(view).startswith("INVALID\n=======\n")


def test_a_bundle_that_is_opened_is_the_one_that_was_written():
    """Reading gives back architecture, circuit and properties that write the same claim."""
    for seed in SEEDS:
        bundle = open_bundle(path := viewed.bundle_of(seed), inspect(path, Beside()).files)
        stated = json.loads((bundle.path / "claim.json").read_text())
        assert bundle.frozen.architecture.to_json() == stated["architecture"]
        assert bundle.circuit.to_json() == stated["circuit"]
        assert [answer.verdict for answer in bundle.answers] == [
            answer["verdict"]
            for answer in json.loads((bundle.path / "certificate.json").read_text())["answers"]
        ]


def test_what_was_not_compared_is_not_shown_as_plainly_valid(tmp_path):
    """A bundle's weights and prompts may be anybody's: that is seen, and what is missing is said."""
    bundle = viewed.quotes_bundle(Fraction(1, 100))
    task, model = tmp_path / "task.json", tmp_path / "model"
    task.write_bytes(canonical_json(toy_quotes().to_json()))
    save_model(model, StoredModel(viewed.closing_model(), TOY))
    states = {
        (False, False): "Not compared: the model and the task.",
        (True, False): "Not compared: the task.",
        (False, True): "Not compared: the model.",
        (True, True): None,
    }
    for (has_model, has_task), said in states.items():
        beside = Beside(against=model if has_model else None, task=task if has_task else None)
        view = tell(bundle, beside)
        assert view.judgement.outcome is Outcome.VALID, view.judgement.reason
        page, text = bundle_page(view), " ".join(bundle_text(view).split())
        assert ('class="judgement valid uncompared"' in page) == (said is not None)
        assert ("valid, not compared." in text) == (said is not None)
        assert said is None or said in text
