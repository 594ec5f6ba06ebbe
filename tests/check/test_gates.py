"""The gates of the checker are the table of the specification, and no leaf is read but through them."""

import ast
from copy import deepcopy
from dataclasses import astuple
from pathlib import Path

import circuitproof_check
from bundle_maker import Prover, fitting
from circuitproof_check.gates import GATES, Leaf
from circuitproof_check.main import Beside, Outcome, inspect
from places import DOCS

SPECIFICATION = DOCS / "certificate.md"


def rows() -> list[list[str]]:
    """Return the cells of the table of leaves."""
    text = SPECIFICATION.read_text()
    lines = text[text.index("### Leaves and their gates") :].splitlines()
    table = [line for line in lines[: lines.index("### Remarks")] if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_table_of_the_specification_is_that_of_the_checker():
    """A precondition that one of them does not know is none."""
    written = {
        name: (keys.replace("`", "").split(", "), shows.split(", "), *gates)
        for name, keys, shows, *gates in rows()
    }
    kept = {
        leaf.value: (list(gate.keys), list(gate.shows), *astuple(gate)[2:-1]) for leaf, gate in GATES.items()
    }
    assert written == kept


def test_a_leaf_is_of_the_arithmetic_that_its_name_and_keys_tell():
    """Exact for all that name a fold or margins, enclosed for enclosures and evaluations, any for digests."""
    for leaf, gate in GATES.items():
        is_enclosure, is_digest = "enclosure" in leaf.value, "digest" in leaf.value
        is_enclosed = is_enclosure or leaf is Leaf.EVALUATION
        assert gate.arithmetic == ("enclosed" if is_enclosed else "any" if is_digest else "exact")
        is_shown = leaf is Leaf.ENCLOSURE_PROMPTS  # whose entries say what is decided
        assert is_enclosure == ("decided" in gate.keys or is_shown)


def test_every_leaf_has_a_gate():
    """A leaf without one cannot be opened."""
    assert set(GATES) == set(Leaf)


def test_no_module_reads_the_keys_of_a_leaf_by_itself():
    """`fields` with a key of a leaf stands in the gate alone, but for entries inside a leaf of prompts."""
    keys = {key for gate in GATES.values() for key in gate.keys} - {"prompts"}
    found: list[tuple[str, str]] = []
    for file in sorted(Path(circuitproof_check.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "fields":
                constants = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                found += [(file.name, key) for key in constants if key in keys]
    assert found == []


def test_a_perturbation_that_reaches_nothing_is_not_even_open(tmp_path):
    """The prover refuses to ask it, so an undecided answer about it is invalid and not incomplete."""
    prover = fitting(change=lambda b: b.domain.update(prompts=[[1, 2], [3, 4, 5]], strata=["all"] * 2))
    for positions, outcome in (([0], Outcome.INVALID), ("last", Outcome.INCOMPLETE)):
        bundle = deepcopy(prover.bundle)
        entry = {"kind": "robustness", "epsilon": "1", "at": "logits input", "positions": positions}
        Prover(bundle).answer(entry, "undecided", {"open": "no time"})
        assert inspect(bundle.write(tmp_path / outcome.name), Beside()).outcome is outcome
