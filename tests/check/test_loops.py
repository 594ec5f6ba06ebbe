"""Every loop of the checker is paid for, and no number of a bundle is hashed."""

from fractions import Fraction
from pathlib import Path

import pytest

import circuitproof_check
import pattern_forgeries
from bundle_maker import KINDS, fitting, proving
from circuitproof_check.exact import vector
from circuitproof_check.main import Outcome, check
from loops import unpaid
from random_claims import CYCLE, known_ask, told

PACKAGE = Path(circuitproof_check.__file__).parent
FREE: dict[str, str] = {
    "it goes through a few things, however large the bundle is": """
        architecture: _read_norm
        architecture: Shape.ports
        architecture: name_of
        forward: Forward.ports
        forward: Run._embedded
        patterns/values: _rows
        programs: Compare.test
        regions/forms: _mirrored
        regions/forms: union
        remarks: _of_property
        main: _refuse_path
        main: _report
        reading: _listed
        reading: _spelled
        reading: quoted
        reading: quoted_path
        summary: Judged.has_base
        summary: _positions
        summary: _property_words
        summary: facts
    """,
    "it is done once, or once for each property, and what it goes through was paid for when it was read": """
        ablation: check_covered
        claim: check_positions
        claim: with_unreached
        identity: frozen_names
        identity: refuted
        main: _printable
        model: check_base
        patterns/shapes: Pattern.classes
        patterns/shapes: _tokens
        patterns/walk: labels
        patterns/walk: shortest
        properties: _check_expected
        properties: _expected
        reading: open_sealed
        reading: parse_json.unique_keys
        reading: require
        reading: show
        summary: _shown
        remarks: _constant
        remarks: _is_chain
        remarks: _is_single
        remarks: _of_edges
        remarks: _unedged
        task: check_tokens
        task: _only_openers
        tensors: stored_size
    """,
    "the words of a program's line were paid for by their letters": """
        programs: _Reader.__init__
        programs: _Reader._alone
        programs: _Reader._compare
        programs: _Reader._count
        programs: _Reader._demand
        programs: _Reader._joined
        programs: _Reader._members
        programs: _Reader._pairs
        programs: _levels
        programs: _weight
        programs: parse_program
    """,
    "every round calls what pays for at least as much, as the making of a vector does": """
        patterns/walk: Ground._refuse_lost_prompts
        forward: Forward._readout
        forward: Forward.affine
        forward: Forward.biases
        forward: Forward.image
        forward: Run._map
        forward: Run._remembered
        forward: Run._row
        patterns/cells: Cell._enter
        patterns/cells: Cell._enter_row
        patterns/cells: Cell._found_price
        patterns/cells: Cell._least
        patterns/cells: Cell._mean
        patterns/cells: Cell.margins
        patterns/cells: coordinates
        patterns/relevance: Relevance._input
        patterns/relevance: Relevance._output
        patterns/relevance: Relevance._weights
        patterns/rows: Row.starts
        patterns/rows: _joined
        patterns/runs: Runs._starts
        patterns/runs: World._divided
        patterns/runs: World.holds
        patterns/values: Values.__init__
        patterns/values: Values._image
        patterns/values: Values._vector
        patterns/values: Values.bias
        patterns/values: _Covectors._of_row
        patterns/values: _Covectors._through
        patterns/values: _Covectors.product
        patterns/values: _Covectors.value
        patterns/walk: Walk._walk_parts
        patterns/walk: check_prompts
        properties: _smaller
        regions/affine: Ground.values
        regions/affine: joined
        regions/robustness: _Setting.logits
        regions/robustness: distances
        remarks: _is_biased
    """,
    "who calls it has paid for what it goes through": """
        claim: _keys
        exact: Matrix._column
        exact: longest
        gates: _follows_brackets
        patterns/cells: Cell._layers
        patterns/runs: Region.heads
        patterns/runs: Runs._is_told
        patterns/runs: World.atoms
        patterns/walk: Walk._enter
        patterns/walk: Walk._walk_prompts
        programs: Program._weight
        programs: _counted
        programs: _picks
        regions/robustness: _Setting.positions
    """,
}
"""Functions that loop and pay for nothing themselves, by the reason why that is right."""


def _listed() -> list[str]:
    return [line.strip() for names in FREE.values() for line in names.strip().splitlines()]


def test_every_loop_of_the_checker_is_paid_for_or_listed_with_a_reason():
    """A loop that nobody paid for let small bundles run for minutes; one that is gone leaves the list."""
    assert sorted(_listed()) == sorted(unpaid(PACKAGE))


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
    assert unpaid(tmp_path) == {"new: A.b", "new: f.g"}


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
    asked = [told(known_ask(seed), tmp_path / str(seed)) for seed in range(2 * len(CYCLE))]
    request.getfixturevalue("unhashable")
    for bundle in bundles:
        assert check(bundle)[0] is Outcome.VALID
    found = [check(one.bundle, one.model, one.base) for one in asked if one.bundle is not None]
    assert len(found) > len(CYCLE) // 2
    assert {outcome for outcome, _ in found}.isdisjoint({Outcome.FAILURE, Outcome.INVALID})


def test_vectors_cannot_be_hashed_and_have_keys():
    """Equal vectors have equal keys, others have others."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(vector([1, 2]))
    assert vector([1, 2]).key == vector([2, 4], 2).key
    assert vector([1, 2], 3).key != vector([1, 2]).key != vector([1, 2 + (1 << 61) - 1]).key
