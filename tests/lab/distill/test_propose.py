"""Floats propose what exact decisions accept: one search, two deciders."""

from itertools import count

import pytest

from circuitproof.programs.candidates import Grammar
from circuitproof.programs.features import Feature
from circuitproof.proof.effort import Pace
from circuitproof_lab.distill.choices import Growth, Scope
from circuitproof_lab.distill.decision_target import DecisionTarget
from circuitproof_lab.distill.propose import propose
from circuitproof_lab.distill.synthesis import Bounds
from circuitproof_lab.distill.synthesise import synthesise
from distractor_models import HEAD, distractor_model, neutral_quotes
from hand_models import QUOTE_EDGES, circuit_of

CIRCUIT = circuit_of(QUOTE_EDGES)
TASK = neutral_quotes()
DEMANDS = (DecisionTarget(TASK, (CIRCUIT,), TASK.decisions()),)
TOKENS = Grammar(rules=2, features=(Feature.KEY_TOKEN,))


@pytest.mark.parametrize("growth", Growth)
@pytest.mark.parametrize("grammar", [TOKENS, Grammar(rules=1, features=(Feature.KEY_POSITION,))])
def test_floats_propose_what_the_exact_search_accepts(grammar, growth):
    """On a model whose logits floats hold exactly, the same program after as many trials."""
    bounds = Bounds(grammar=grammar, growth=growth, scope=Scope.CIRCUIT)
    exact = synthesise(distractor_model(), [TASK], HEAD, {TASK.name: CIRCUIT}, bounds)
    found = propose(distractor_model(), DEMANDS, HEAD, bounds)
    assert found.program == exact.program is not None
    assert (found.overlap, found.record.mean_support) == (exact.overlap, exact.record.mean_support)
    if growth is Growth.WHOLE:
        assert (found.effort.tried, found.effort.meanings) == (exact.effort.tried, exact.effort.meanings)
    assert found.effort.decisions >= TASK.size


def test_where_no_program_will_do_none_is_proposed():
    """A head that attends by the query alone leaves the candidates equal, and a tie is not as wanted."""
    bounds = Bounds(grammar=Grammar(rules=1, features=(Feature.QUERY_POSITION,)), words=())
    found = propose(distractor_model(), DEMANDS, HEAD, bounds)
    assert (found.program, found.overlap) == (None, None)
    assert found.effort.tried == found.effort.meanings > 0


def test_a_search_ends_when_its_time_is_over():
    """What was refuted by then is counted."""
    clock = count()
    pace = Pace(9, lambda: float(next(clock)))
    found = propose(distractor_model(), DEMANDS, HEAD, Bounds(grammar=TOKENS), pace)
    assert found.program is None
    assert found.effort.tried < found.effort.meanings
