from collections import Counter
from dataclasses import replace

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.ablation import Mean, Pooling
from circuitproof.circuits.circuit import circuit_of as circuit_in
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Granularity, Graph
from circuitproof.errors import InputError, UsageError
from circuitproof.files.reading import Fields
from circuitproof.proof.battery import prove
from circuitproof.proof.counterexamples import counterexample
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import PromptSplit, Replay
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.agreement import Agreement, SameDecision
from circuitproof.proof.properties.catalogue import read_property
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.property import Asked
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from hand_models import ADDED, ADDER_TASK, DIRECT, adder_claim, circuit_of
from pattern_claims import random_claim
from pattern_strategies import all_prompts

SILENT = (*ADDED, "embed -> head 0.0", "head 0.0 -> logits")
"""The adder, and a head that puts out zero."""
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


def agreeing(edges=SILENT, **changes):
    """Return a claim that the adder agrees with another circuit."""
    return adder_claim(Agreement(circuit_of(edges)), **changes)


def judged(battery, folder):
    """Return what the checker says of a bundle."""
    write_bundle(folder, battery)
    return check(folder)[0]


def test_circuits_that_decide_every_prompt_alike_agree(tmp_path):
    """Each prompt has its two rows of logits in the evidence."""
    battery = prove(agreeing())
    (answer,) = battery.answers
    assert (answer.verdict, answer.obligations) == (Verdict.PROVED, ADDER_TASK.size)
    assert isinstance(answer.evidence, PromptSplit)
    assert all(leaf.fold == leaf.second for leaf in answer.evidence.children)
    assert judged(battery, tmp_path / "bundle") is Outcome.VALID


def test_the_prompt_that_separates_two_circuits_is_shown(tmp_path):
    """With what each of them decides there, computed anew."""
    claim = agreeing(DIRECT)
    battery = prove(claim)
    (answer,) = battery.answers
    assert isinstance(answer.evidence, Replay)
    (found,) = counterexample(claim, answer).prompts
    folds = fold(claim.frozen, claim.task.candidates, claim.circuits(), [found.prompt])
    own, other = (folds.of(circuit)[0].decision for circuit in claim.circuits())
    assert (found.decided, found.wanted) == (own, other)
    assert own != other
    assert judged(battery, tmp_path / "bundle") is Outcome.REFUTED


def test_equal_ties_are_no_agreement(tmp_path):
    """A tie is never right: agreement wants clear decisions, faithfulness compares sets."""
    nothing = {"embed.token": [[0, 0]] * 5, "mlp.0.down.weight": [[0, 0], [0, 0]]}
    battery = prove(agreeing(weights=nothing))
    (answer,) = battery.answers
    (shown,) = answer.evidence.prompts
    assert shown.leaf.fold.decision == shown.leaf.second.decision == {0, 1}
    assert judged(battery, tmp_path / "bundle") is Outcome.REFUTED


def test_remarks_are_on_equal_logits_and_constant_decisions():
    """Both circuits may have the same numbers, and one decision for all."""
    (answer,) = prove(agreeing()).answers
    assert [*map(str, answer.remarks)] == ["same logits"]
    loud = {"head.0.0.value.weight": [[0, 0], [0, 1]], "head.0.0.output.weight": [[0, 0], [0, 1 / 8]]}
    (answer,) = prove(agreeing(weights=loud)).answers
    assert (answer.verdict, answer.remarks) == (Verdict.PROVED, ())


@pytest.mark.parametrize("name", ["sizes", "granularity", "ablation", "same edges", "dead edges", "blind"])
def test_a_circuit_that_cannot_be_meant_is_refused(name):
    """Each with what is wrong and what to do."""
    adder = circuit_of(ADDED)
    others = {
        "sizes": (whole(Graph(2, 1)), "is claimed with: the circuit is of 2 layers of 1 heads"),
        "granularity": (whole(Graph(1, 1, Granularity.PORT)), "of granularity port, the claim's has head"),
        "ablation": (replace(circuit_of(DIRECT), ablation=Mean(((0,),), Pooling.ALL)), "under mean ablation"),
        "same edges": (adder, "of the same edges"),
        "dead edges": (circuit_of((*ADDED, "embed -> head 0.0")), "of the same edges"),
        "blind": (circuit_in(adder.graph, []), "reads no prompt"),
    }
    other, sentence = others[name]
    with pytest.raises(InputError, match=sentence):
        adder_claim(Agreement(other))


def test_agreement_is_asked_for_with_a_circuit():
    """Without one there is nothing to agree with."""
    assert Agreement.asked(Asked(agrees_with=circuit_of(DIRECT))) == Agreement(circuit_of(DIRECT))
    with pytest.raises(UsageError, match="give its file with --agrees-with"):
        Agreement.asked(Asked())


def test_agreement_is_read_as_it_was_written():
    """The other circuit is in the claim, edge by edge."""
    prop = Agreement(circuit_of(DIRECT))
    assert prop.to_json() == {"kind": "agreement", "granularity": "head", "edges": ["embed -> logits"]}
    assert read_property(Fields(prop.to_json(), "claim"), circuit_of(ADDED)) == prop
    assert "C′ keeps embed -> logits" in prop.meaning().words  # noqa: RUF001  # as it is printed
    assert prop.name == "agreement with 1 edge"


def pairs():
    """Return claims about patterns that a circuit agrees with another, drawn edge by edge."""
    for seed in range(10):
        claim = random_claim(seed)
        for other in (*claim.circuit.lesions(), whole(claim.circuit.graph)):
            try:
                yield seed, replace(claim, properties=(Agreement(other),))
            except InputError:
                continue


def test_over_patterns_agreement_is_what_looking_at_every_prompt_says(tmp_path):
    """And the checker judges each bundle as the prover does."""
    verdicts = Counter()
    for number, (seed, claim) in enumerate(pairs()):
        battery = prove(claim, Effort(listed=64))
        (answer,) = battery.answers
        verdicts[answer.verdict] += 1
        prompts = list(all_prompts(claim.task.labelled.machine))
        folded = fold(claim.frozen, claim.task.candidates, claim.circuits(), prompts)
        rows = zip(*map(folded.of, claim.circuits()), strict=True)
        is_true = all(own.is_clear and own.decision == other.decision for own, other in rows)
        if answer.verdict is not Verdict.UNDECIDED:
            assert (answer.verdict is Verdict.PROVED) == is_true, seed
        assert judged(battery, tmp_path / str(number)) is OUTCOMES[answer.verdict]
    assert min(verdicts[Verdict.PROVED], verdicts[Verdict.REFUTED]) >= 5, verdicts


def test_a_region_is_decided_as_a_clear_prompt_of_it_is():
    """Both circuits' margins must then exceed zero."""
    goal = SameDecision(circuit_of(DIRECT))
    assert goal.least(0, 1) == 0
    assert goal.second == circuit_of(DIRECT)


def test_agreement_stands_beside_other_properties(tmp_path):
    """Of one claim, with one set of weights for both circuits."""
    battery = prove(adder_claim(Equivalence(), Agreement(circuit_of(SILENT))))
    assert battery.verdict is Verdict.PROVED
    assert judged(battery, tmp_path / "bundle") is Outcome.VALID
    weights = (tmp_path / "bundle" / "claim.json").read_text()
    assert "head.0.0.value.weight" in weights
