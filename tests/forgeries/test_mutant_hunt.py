"""A prover with one mutation after another must not make the checker accept what is false.

`python tests/mutant_hunt.py --out build/mutants` runs all mutants; here is a sample of them, the same each
time.
"""

import ast

import pytest

from circuitproof_check.patterns.rows import token_tests
from circuitproof_check.patterns.runs import World
from circuitproof_check.programs import Compare
from mutant_hunt import CORPUS, HOLES, asks_for, hunt, insisting, tell
from mutants import all_mutants, applied_mutants, changes, is_swappable, mutated, placed
from random_claims import known_ask
from rule_removal import without

PORTIONS, EVERY = 3, 150
FEW = range(136)


def accepted(report):
    """Return the accepted falsehoods in words."""
    return "\n".join(map(str, report.accepted))


@pytest.mark.slow
@pytest.mark.parametrize("portion", range(PORTIONS))
def test_no_mutant_of_a_sample_gets_a_falsehood_accepted(portion):
    """The prover's guards are its own: whatever one of them lets through, the checker must look itself."""
    report = hunt(all_mutants()[portion * EVERY // PORTIONS :: EVERY], corpus=FEW, each=3)
    assert report.counts["mutants"] > 15
    assert not report.accepted, accepted(report)


UNKNOWN = (
    "proof/enclosed.py",
    "proof/known.py",
    "proof/properties/fewest.py",
    "proof/findings.py",
    "bundle/numbered.py",
)
"""Where a decision that is not known is kept from being taken for one."""


@pytest.mark.slow
def test_no_liar_about_unknown_decisions_gets_a_falsehood_accepted():
    """The prover is told logits up to a radius; what it then makes up, the checker must see."""
    blurred = [seed for seed in CORPUS if known_ask(seed).radius is not None][:6]
    mutants = [mutant for mutant in all_mutants() if mutant.file in UNKNOWN]
    report = hunt(mutants[::3], blurred)
    assert len(blurred) == 6
    assert report.counts["bundles"] > 50
    assert not report.accepted, accepted(report)


@pytest.mark.slow
@pytest.mark.parametrize("portion", range(3))
def test_no_ask_gets_a_falsehood_accepted_when_the_guards_that_refuse_it_are_gone(portion):
    """A guard may stand behind another; an ask is put again until the prover answers it."""
    report = insisting(range(portion, 51, 3))
    assert report.counts["asks after 1 guards"]
    assert not report.accepted, accepted(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLES)
def test_a_hole_that_was_there_once_stays_closed(name):
    """The mutants and seeds that found it are tried again."""
    found = HOLES[name].search()
    assert not found, "\n".join(map(str, found))


def old_atoms(world, region, heads):
    """Return the vocabulary parted as it once was: by the numbers that programs name, the rest together."""
    tests = [test for head in heads for test in token_tests(world.programs[head])]
    owned = [getattr(test, "__self__", None) for test in tests]
    named = {n for one in owned for n in (one.numbers if isinstance(one, Compare) else one or ())}
    classes = [*world.pattern.classes(), *(tokens for _, tokens in region.tokens)]
    mentioned = named | {*world.rules.answers, *world.rules.classes}.union(*(one.listed for one in classes))
    parts: dict[tuple[object, ...], list[int]] = {}
    for token in range(world._vocabulary):
        key = (token, *(token in one for one in classes)) if token in mentioned else ("rest",)
        parts.setdefault(key, []).append(token)
    return [tuple(part) for part in parts.values()]


MENDED = {
    "robustness before a norm, over a pattern": ("leaves_allow_the_norm",),
    "tokens in order, judged by one of the rest": ("tokens_have_no_order",),
    "a base of another architecture": ("base_has_the_architecture", "base_lists_its_tensors"),
    "openers outside the vocabulary": ("openers_are_in_the_vocabulary",),
    "prompts of a pattern without just one opener": ("prompts_of_patterns_have_labels",),
    "answers that are no candidates": ("answers_are_candidates",),
    "programs outside the grammar": (
        "tokens_have_no_order",
        "programs_name_known_tokens",
        "members_are_distinct",
        "brackets_open_or_close",
        "counts_are_compared_within_their_bound",
        "conditions_have_few_levels",
    ),
}
"""The rules that mended each hole."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_found_again_when_its_mending_is_taken_out(name, monkeypatch):
    """Otherwise that nothing is found would say nothing."""
    without(MENDED[name], monkeypatch)
    if "judged by one" in name:
        monkeypatch.setattr(World, "atoms", old_atoms)
    assert HOLES[name].search()


@pytest.mark.slow
def test_the_four_holes_are_found_by_the_hunt_itself(monkeypatch):
    """Their mendings are out, and nobody chose the asks: the first ones, as many for a mutant as usual."""
    norm, order, base, opener = list(HOLES)[:4]
    without((*MENDED[norm], *MENDED[order], *MENDED[base], *MENDED[opener]), monkeypatch)
    monkeypatch.setattr(World, "atoms", old_atoms)
    found = hunt(placed(*HOLES[norm].mutants[0]), corpus=FEW).accepted
    assert any(HOLES[norm].word in one.falsehood for one in found)
    found = insisting(FEW).accepted
    ordered = [one for one in found if known_ask(one.seed).flaw.startswith("ordered")]
    assert any(HOLES[order].word in one.falsehood for one in ordered)
    assert any(HOLES[base].word in one.falsehood for one in found)
    assert any(HOLES[opener].word in one.falsehood for one in found)


def test_mutants_have_names_of_their_own():
    """A name must lead back to one change of one place."""
    names = [mutant.name for mutant in all_mutants()]
    assert len(set(names)) == len(names) > 2000


@pytest.mark.parametrize("pattern", ["name", "_", "int() | _", "int() as name", "[name, *_]"])
def test_a_guard_is_dropped_from_any_pattern(pattern):
    """Also from a name that matches everything, after which Python allows no further case."""
    tree = ast.parse(
        f"match value:\n    case {pattern} if value == 0:\n        x = 1\n    case _:\n        x = 2"
    )
    (case,) = (one for one in ast.walk(tree) if isinstance(one, ast.match_case) and one.guard is not None)
    ((kind, change),) = changes(case)
    assert kind == "guard-drop"
    assert change(case) is None
    names = {"value": [3] if pattern.startswith("[") else 3}
    exec(compile(ast.fix_missing_locations(tree), "", "exec"), names)  # noqa: S102  # just written above
    assert names["x"] == 1


def test_a_mutant_that_is_no_python_is_counted_and_left_out(monkeypatch):
    """A change that Python refuses ends no hunt of thousands."""

    def refused(*_):
        raise SyntaxError("name capture makes remaining patterns unreachable")

    monkeypatch.setattr("mutants.mutated", refused)
    assert hunt(all_mutants()[:2]).counts == {"mutants that cannot be applied": 2}


def test_nearly_all_mutants_can_be_applied():
    """What is no part of a function cannot be exchanged; that is little."""
    assert sum(not mutant.function for mutant in all_mutants()) < 20
    assert sum(not is_swappable(mutant) for mutant in all_mutants()[::200]) <= 1


def test_a_mutant_acts_only_while_it_is_applied():
    """Otherwise the honest prover of the next run would lie."""
    (guard, *_) = placed("proof/properties/robustness.py", "Robustness.__post_init__", "raise-pass")
    from circuitproof.errors import DeclarationError
    from circuitproof.proof.properties.robustness import Robustness

    with applied_mutants(guard):
        assert Robustness(0).epsilon == 0
    with pytest.raises(DeclarationError):
        Robustness(0)


def test_mutants_of_one_function_act_together():
    """Guards are turned off one after the other, and two may be in one function."""
    pair = placed("proof/properties/minimum.py", "Minimum.__post_init__", "raise-pass")
    assert len(pair) == 2
    assert len(mutated(*pair)) == 1


def test_an_honest_prover_refuses_most_flaws(tmp_path):
    """Asks are there to be refused, too."""
    flawed = [seed for seed in CORPUS[:160] if known_ask(seed).flaw]
    refused = [seed for seed in flawed if tell(known_ask(seed), tmp_path / str(seed)).bundle is None]
    assert len(refused) > len(flawed) / 2


def test_mutants_meet_asks_that_reach_them():
    """An ask that never comes to the changed line would tell nothing."""
    (guard,) = placed("proof/properties/robustness.py", "robust_goal", "if-false")
    chosen = [known_ask(seed) for seed in asks_for(guard, FEW)]
    assert chosen
    assert all(asked.is_pattern for asked in chosen)
