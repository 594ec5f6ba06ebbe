"""Every loop of the checker is paid for, and no number of a bundle is hashed."""

import marshal
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

import bundle_maker as maker
import circuitproof_check
import enclosed_forgeries
import measure_forgeries
import pattern_forgeries
from bundle_maker import KINDS, Bundle, fitting, proving
from circuitproof_check.exact import vector
from circuitproof_check.main import Outcome, check
from loops import unpaid
from pattern_forgeries import ANY, EQUIVALENCE, ONE_OPENER, uniform
from places import ROOT
from random_claims import CYCLE, known_ask, told

PACKAGE = Path(circuitproof_check.__file__).parent
FREE: dict[str, str] = {
    "it goes through a few things, however large the bundle is": """
        architecture: _read_norm
        architecture: CircuitShape.ports
        architecture: name_of
        architecture: read_architecture 3
        circuits: Circuits.ports
        circuits: Reading.inputs
        counted_words: counted_facts
        counted_words: counted_words
        enclosed/leads: NormedLeads._rival 2
        forward: CircuitRun._turned
        forward: CircuitRun._embedded
        main: _judge 6
        measures: _evaluated 2
        measures: proved
        main: _refuse_path
        main: _report
        model: open_model 2
        architecture: embedding
        patterns/walk: Walk._check_prompt 2
        patterns/walk: Walk._least
        properties: _judge_answer
        reading: _listed 6
        reading: fields
        regions/forms: _mirrored
        regions/forms: union
        remarks: _of_property 4
        summary: Judged.has_base
        summary: _positions 2
        summary: _property_words
        summary: sentence 2
    """,
    "it is done once, or once for each property, and what it goes through was paid for when it was read": """
        ablation: check_covered
        claim: _read_other
        claim: check_positions
        claim: read_claim 4
        claim: with_unreached
        identity: check_table
        identity: check_tables 4
        identity: frozen_names 2
        identity: proved 2
        identity: refuted 2
        main: _printable
        model: _identities
        model: check_base
        patterns/shapes: Pattern.classes
        patterns/shapes: _read_shape 4
        patterns/shapes: _tokens
        patterns/shapes: read_pattern 2
        patterns/walk: labels 2
        patterns/walk: shortest
        properties: _check_expected 4
        properties: _expected 5
        properties: judge
        reading: open_sealed
        reading: parse_json.unique_keys 3
        reading: _spelled 4
        reading: quoted
        reading: quoted_path
        reading: require 2
        reading: show
        remarks: _constant 2
        remarks: _is_chain 8
        remarks: _is_whole 2
        summary: _edges_counted 2
        summary: _answered 6
        summary: _answers 3
        task: _check_outputs 2
        task: _read_outputs 2
        task: _read_position 2
        task: check_task 2
        remarks: _is_single
        remarks: _of_edges 2
        remarks: _unedged 4
        summary: facts 3
        task: check_tokens
        task: _check_possible 2
        task: _only_openers 6
        task: _read_answers 2
        task: _read_names
        tensors: _read_header 2
        tensors: _stream_tensor
        tensors: stored_size
    """,
    "the words of a program's line were paid for by their letters": """
        programs: _Reader.__init__
        programs: _Reader._alone
        programs: _Reader._compare
        programs: _Reader._count
        programs: _Reader._demand
        programs: _Reader._joined 3
        programs: _Reader._members 2
        programs: _Reader._pairs 3
        programs: _levels 2
        programs: _weight
        programs: parse_program 2
    """,
    "every round calls what pays for at least as much, as the making of a vector does": """
        enclosed/forward: Enclosures.read_out
        enclosed/robustness: proved
        forward: Forward.entries 2
        forward: Forward.affine
        forward: Forward.biases
        forward: Forward.image
        forward: CircuitRun._map 2
        forward: CircuitRun._remembered 2
        forward: CircuitRun._row 2
        patterns/cells: Cell.__init__
        patterns/cells: Cell._enter
        patterns/cells: Cell._enter_row
        patterns/cells: Cell._found_price 4
        patterns/cells: Cell._least 5
        patterns/cells: Cell._mean 3
        patterns/cells: Cell.margins 2
        patterns/cells: coordinates
        patterns/relevance: Relevance._input
        patterns/relevance: Relevance._output
        patterns/relevance: Relevance._weights 3
        patterns/relevance: _union
        patterns/rows: ProgramRow.starts
        patterns/rows: _joined 2
        patterns/runs: Runs._layers
        patterns/runs: Runs._read 2
        patterns/runs: Runs._starts 4
        patterns/runs: World.holds
        patterns/values: Values.__init__
        patterns/values: Values._image
        patterns/values: Values._vector 5
        patterns/values: Values.bias 4
        patterns/values: _Covectors._of_row
        patterns/values: _Covectors._through 2
        patterns/values: _Covectors.product
        patterns/values: _Covectors.value 2
        patterns/walk: ClaimWalks._refuse_lost_prompts 2
        patterns/walk: Walk._walk_parts 2
        patterns/walk: check_prompts 2
        programs: _Seen.open
        properties: _fewest_proved 2
        properties: _smaller 2
        regions/affine: AffineVector.each
        regions/affine: SampledRegion.values
        regions/affine: joined
        regions/affine: moved 3
        regions/robustness: _Setting.logits
        regions/robustness: _distances 4
        remarks: _biased
        remarks: _is_same
        sums/automaton: PromptAutomaton._level
        sums/rows: TokenRows._contributed 2
        sums/rows: TokenRows._projected
        sums/settle: PatternSums.settle 2
        rules: answers_of
    """,
    "who calls it has paid for what it goes through": """
        claim: _keys 4
        exact: Matrix._column
        exact: longest 2
        exact: vector
        gates: _forbidden_programs 3
        patterns/cells: Cell._layers
        patterns/runs: PromptRegion.heads 4
        patterns/runs: Runs._is_told 3
        patterns/runs: World.atoms 5
        patterns/walk: Walk._enter
        patterns/walk: Walk._walk_prompts 3
        programs: Program._weight 2
        programs: _counted
        programs: _picks 2
        enclosed/functions: _gelu_exact_between
        enclosed/functions: exp_ends 2
        sums/boxes: LeadSums._bounds 2
        sums/boxes: LeadSums._lines 2
        sums/boxes: LeadSums._of_head 5
        sums/boxes: LeadSums._of_one_head 4
        sums/boxes: LeadSums.price_of
        sums/cells: CellGraph.least 4
        regions/robustness: _Setting.positions
        rules: _numbered
        rules: read_rule
    """,
}
"""Loops that nothing pays for, inside them or before them: how many of a function, by the reason."""


def _listed() -> Counter[str]:
    lines = [line.strip() for names in FREE.values() for line in names.strip().splitlines()]
    counted = [line.rpartition(" ") if line[-1].isdecimal() else (line, "", "1") for line in lines]
    assert len({name for name, _, _ in counted}) == len(lines), "each function stands at one reason"
    return Counter({name: int(count) for name, _, count in counted})


def test_every_loop_of_the_checker_is_paid_for_or_listed_with_a_reason():
    """A loop that nobody paid for let small bundles run for minutes; one that is gone leaves the list."""
    assert _listed() == unpaid(PACKAGE)


@pytest.mark.parametrize(
    "body",
    [
        "for one in entries: use(one)",
        "while entries: use(entries.pop())",
        "return [use(one) for one in entries]",
        "return {use(one) for one in entries}",
        "return {one: use(one) for one in entries}",
        "return use(one for one in entries)",
        "return sorted(entries)",
        "return set(entries)",
        "return sum(entries)",
        "return max(entries)",
        "return gcd(*entries)",
        "return map(use, entries)",
        "return again(entries)",
        "return other(entries)",
    ],
)
def test_a_new_loop_is_found_until_it_is_paid_for(body, tmp_path):
    """Whatever it is spelled as; also a function that calls itself, directly or through another."""
    rest = "\n\ndef other(entries):\n    return again(entries)\n\ndef once(a, b):\n    return max(a, b)\n"
    (tmp_path / "new.py").write_text(f"def again(entries):\n    {body}\n{rest}")
    assert "new: again" in unpaid(tmp_path)
    assert "new: once" not in unpaid(tmp_path)
    (tmp_path / "new.py").write_text(f"def again(entries):\n    spend(len(entries))\n    {body}\n{rest}")
    assert "new: again" not in unpaid(tmp_path)


def test_a_loop_in_a_method_or_in_an_inner_function_is_found(tmp_path):
    """What its owner pays is not what it pays."""
    method = "class A:\n    def b(self, e):\n        return sum(e)\n"
    inner = "def f(e):\n    spend(1)\n    def g():\n        return sum(e)\n    return g\n"
    (tmp_path / "new.py").write_text(method + inner)
    assert unpaid(tmp_path) == {"new: A.b": 1, "new: f.g": 1}


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("sum(e)\n    spend(len(e))", 1),
        ("spend(len(e))\n    sum(e)\n    max(e)", 0),
        ("if e:\n        spend(len(e))\n    sum(e)", 1),
        ("if paid(e):\n        sum(e)", 0),
        ("for one in e:\n        sum(one)\n        spend(len(one))", 1),
        ("for one in e:\n        spend(len(one))\n        sum(one)", 0),
        ("spend(sum(map(len, e)))", 0),
        ("f = items(e)\n    sum(f)\n    sum(e)", 1),
        ("try:\n        spend(1)\n    except ValueError:\n        sum(e)\n    max(e)", 2),
        ("match e:\n        case 1:\n            spend(1)\n        case _:\n            sum(e)", 1),
        ("return [[use(a) for a in b] for b in e], [use(b) for b in paid(e)]", 2),
    ],
)
def test_a_loop_is_paid_for_inside_it_or_on_every_way_to_it(body, count, tmp_path):
    """What is paid for in one branch, or afterwards, is not paid for."""
    (tmp_path / "new.py").write_text(f"def f(e):\n    {body}\n")
    assert unpaid(tmp_path).total() == count


@pytest.fixture
def unhashable(monkeypatch):
    """Make rationals unfit for sets and dictionaries."""

    def refuse(self: Fraction) -> int:
        raise AssertionError(f"{self} is hashed")

    monkeypatch.setattr(Fraction, "__hash__", refuse)


def test_no_rational_of_a_bundle_is_hashed(tmp_path, request):
    """Python hashes numbers by their remainder: a bundle chooses as many as it likes with one hash."""
    bundles = [proving(fitting(), *KINDS).write(tmp_path / "list")]
    bundles += [pattern_forgeries.honest().write(tmp_path / "pattern")]
    bundles += [enclosed_forgeries.honest().write(tmp_path / "enclosed")]
    bundles += [measure_forgeries.honest().write(tmp_path / "measures")]
    bundles += (kept := sorted((ROOT / "evidence").glob("*/*/bundle")))
    assert kept
    asked = [told(known_ask(seed), tmp_path / str(seed)) for seed in range(2 * len(CYCLE))]
    request.getfixturevalue("unhashable")
    for bundle in bundles:
        assert check(bundle)[0] in (Outcome.VALID, Outcome.REFUTED)
    found = [check(one.bundle, one.model, one.base) for one in asked if one.bundle is not None]
    assert len(found) > len(CYCLE) // 2
    assert {outcome for outcome, _ in found}.isdisjoint({Outcome.FAILURE, Outcome.INVALID})


class Chosen(int):
    """An integer of a bundle that may be hashed only where it can be an index."""

    def __hash__(self) -> int:
        assert 0 <= self < 1 << 21, f"{self} is hashed"
        return int.__hash__(self)


@pytest.fixture
def chosen(monkeypatch):
    """Make the integers that a bundle chooses tell when they are hashed."""
    for module in ("reading", "programs"):
        monkeypatch.setattr(f"circuitproof_check.{module}.int", Chosen, raising=False)
    spelled = SimpleNamespace(dumps=lambda numbers, version: marshal.dumps(tuple(map(int, numbers)), version))
    monkeypatch.setattr(
        "circuitproof_check.work.marshal", spelled
    )  # which takes no integers but Python's own


LONG = 10**17


def with_long_numbers() -> dict[str, Bundle]:
    """Return true claims, about a list and about a pattern, with a long integer wherever one may stand."""
    listed = proving(fitting(programs={"0.0": ["default 1", "otherwise self"]}), "equivalence", "invariance")
    maker.remark(listed)
    listed.pins.discard("remarks")
    conditions = (f"key_position in {{0, {LONG}}}", f"query_count {{1}} up to {LONG} in {{0, {LONG}}}")
    listed.claim["programs"]["0.0"][1:1] = [f"add 0 when {one}" for one in conditions]
    relation = listed.claim["task"]["relation"]
    relation["classes"] = [LONG + one for one in relation["classes"]]
    clauses = [{"of": ANY, "least": 0, "most": LONG}, {"of": ANY, "first": 0, "last": LONG}]
    clauses += ONE_OPENER["clauses"]
    shape = {"repeat": ANY, "least": 1, "most": LONG}
    made = uniform(pattern={"shape": shape, "clauses": clauses, "longest": 2})
    enclosed = enclosed_forgeries.honest()
    relation = enclosed.claim["task"]["relation"]
    relation["classes"] = [LONG + one for one in relation["classes"]]
    pattern = made.sealed(EQUIVALENCE, made.settled())
    return {"list": listed, "enclosed": enclosed, "pattern": pattern, "measures": measure_forgeries.honest()}


@pytest.mark.usefixtures("chosen")
def test_no_long_integer_of_a_bundle_is_hashed(tmp_path):
    """Only what can be an index is a member of sets and a key of dictionaries."""
    for name, bundle in with_long_numbers().items():
        outcome, reason = check(bundle.write(tmp_path / name))
        assert outcome is Outcome.VALID, reason


def _long_token(place: str) -> Bundle:
    bundle = proving(fitting(), "equivalence")
    task, prompts = bundle.claim["task"], bundle.domain["prompts"]
    match place:
        case "prompt":
            prompts[0] = [LONG]
        case "candidate":
            task["candidates"].append(LONG)
        case "answer":
            task["answer"]["answers"][0] = LONG
        case "opener":
            task["relation"] = {"kind": "same opener", "openers": [LONG, 0]}
        case "partner":
            task["answer"] = {"kind": "only opener", "answers": [[LONG, 1], [0, 1]]}
        case "position":
            bundle = proving(fitting(), "robustness")
            bundle.claim["properties"][0]["positions"] = [0, LONG]
        case "label":
            bundle = pattern_forgeries.honest()
            bundle.certificate["answers"][0]["evidence"]["children"][0]["answer"] = LONG
    return bundle


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize("place", ["prompt", "candidate", "answer", "opener", "partner", "position", "label"])
def test_a_long_integer_is_refused_before_it_is_hashed(place, tmp_path):
    """Tokens and positions that are none are refused before they are counted or looked up."""
    outcome, reason = check(_long_token(place).write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID, reason


def test_vectors_cannot_be_hashed_and_have_keys():
    """Equal vectors have equal keys, others have others."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(vector([1, 2]))
    assert vector([1, 2]).key == vector([2, 4], 2).key
    assert vector([1, 2], 3).key != vector([1, 2]).key != vector([1, 2 + (1 << 61) - 1]).key
