from dataclasses import replace
from fractions import Fraction

from circuitproof.circuits.graph import Head
from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.proof.patterns.limits import FailingChoice, find_limits
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.tasks.pattern_text import print_pattern
from hand_models import IDENTITY, PLAIN, READ_OFF, build, circuit_of, freeze
from pattern_claims import task_of, truth

MEMBER = parse("default 0\nadd 1 when key_token in {0, 1}\notherwise self")
ALL = parse("default 1\notherwise self")
SECOND = parse("default 0\nadd 1 when key_position == 1\nadd 1 when key_position == 0\notherwise self")
TOKENS = [[2, 0], [0, 2], [0, 0], [0, 0], [0, -3]]
"""Token 0 speaks for 0, token 1 for 1, token 4 against 1."""


def claim_of(program, positions, text, edges=("embed -> head 0.0", "head 0.0 -> logits")):
    """Return a claim about a head that hands on what it reads."""
    sizes = replace(PLAIN, context=len(positions))
    weights = {
        "embed.token": TOKENS,
        "embed.position": positions,
        "head.0.0.value.weight": IDENTITY,
        "head.0.0.output.weight": IDENTITY,
        "logits.weight": READ_OFF,
    }
    frozen = freeze(build(weights, sizes, {Head(0, 0): program}))
    return Claim(frozen, circuit_of(edges), task_of(text, vocabulary=5), (Equivalence(),))


def is_right(claim, part):
    """Say whether equivalence holds on a part, by looking at every prompt."""
    return truth(replace(claim, task=replace(claim.task, domain=part.pattern)), Equivalence())


def test_failing_cells_are_named_and_the_rest_is_proved():
    """The last position speaks against the opener 1, so it fails there and nowhere else."""
    claim = claim_of(MEMBER, [[0, 0], [0, 0], [0, -5]], "any{1..3} with exactly 1 of [0, 1]")
    found = find_limits(claim)
    assert [(str(c.head), c.token, c.position, int(c.margin)) for c in found.failing] == [
        ("head 0.0", 1, 2, -3)
    ]
    assert found.cells == 6
    assert [(part.what, print_pattern(part.pattern)) for part in found.parts] == [
        ("openers at 0 to 1", "any{1..3} with exactly 1 of [0, 1] and [0, 1] only at 0..1"),
        ("up to 2 tokens", "any{1..3} with exactly 1 of [0, 1] up to 2 tokens"),
    ]
    assert all(is_right(claim, part) for part in found.parts)


def test_a_claim_of_robustness_ends_where_a_perturbation_turns_a_decision():
    """Each position takes a half of what the opener 1 leads by: right everywhere, robust at the first two."""
    claim = claim_of(MEMBER, [[0, 0], [0, -0.5], [0, -1]], "any{1..3} with exactly 1 of [0, 1]")
    assert not find_limits(claim).failing
    robust = replace(claim, properties=(Equivalence(), Robustness(Fraction(2, 3))))
    found = find_limits(robust)
    assert [(c.token, c.position, c.margin) for c in found.failing] == [(1, 2, 1 - 2 * Fraction(2, 3))]
    for part in found.parts:
        task = replace(claim.task, domain=part.pattern)
        assert is_right(claim, part)
        assert truth(replace(robust, task=task), robust.properties[1])
    assert [part.what for part in found.parts] == ["openers at 0 to 1", "up to 2 tokens"]


def test_tokens_that_fail_are_left_out():
    """A mean over all tokens is turned by one that speaks against the opener."""
    claim = claim_of(ALL, [[0, 0]] * 3, "any{3} with exactly 1 of [0, 1]")
    (part,) = find_limits(claim).parts
    assert part.what == "without tokens 4"
    assert part.size == 2 * 3 * 2**2
    assert is_right(claim, part)


def test_failing_choices_are_named_where_few_positions_matter():
    """Two heads in series are followed where their rows look at no token."""
    claim = claim_of(SECOND, [[0, 0]] * 3, "any [0, 1] any with exactly 1 of [0, 1]")
    circuit = circuit_of(("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits", "embed -> mlp 0"))
    found = find_limits(replace(claim, circuit=circuit))
    assert all(isinstance(choice, FailingChoice) for choice in found.failing)
    assert found.cells == len(found.failing) == 2 * 3 * 3
    assert found.parts == ()
