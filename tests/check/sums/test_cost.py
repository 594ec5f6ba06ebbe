"""The work of leaves about a pattern is known before it is begun, and is bounded."""

import re
import time

import pytest

from circuitproof_check import work
from circuitproof_check.main import Beside, Outcome, inspect
from softmax_pattern_claims import TWO, SoftmaxPattern


@pytest.mark.parametrize("edges", [None, TWO], ids=["one head", "two heads"])
@pytest.mark.parametrize("p", [64, 700])
def test_with_the_operations_that_the_sentence_names_the_claim_is_judged(edges, p, tmp_path):
    """A number that were not enough would send its reader back again."""
    made = SoftmaxPattern(1, edges, p=p, heads=2 if edges else 1)
    bundle = made.accuracy(exactly=str(made.right())).sealed().write(tmp_path / "bundle")
    assert inspect(bundle, Beside()).outcome is Outcome.VALID
    taken = work.spent()
    few = inspect(bundle, Beside(operations=taken * 4 // 5))
    assert few.outcome is Outcome.INCOMPLETE
    named = re.search(r"--operations (\d+)$", few.reason)
    assert named is not None, few.reason
    assert inspect(bundle, Beside(operations=int(named[1]))).outcome is Outcome.VALID
    assert taken <= int(named[1]) < 4 * taken
    foreseen = inspect(bundle, Beside(only_foreseen=True))
    assert re.fullmatch(r"about \d+ operations are needed, and \d+ are left", foreseen.reason)


def _long(made: SoftmaxPattern) -> None:
    """Let the pattern have prompts of hundreds of tokens."""
    made.claim["architecture"]["context"] = longest = 300
    shape, numbers = made.bundle.tensors["embed.position"]
    made.bundle.tensors["embed.position"] = (longest, shape[1]), numbers * (longest // shape[0])
    shape = {"repeat": {"all but": []}, "least": 1, "most": longest}
    made.bundle.domain["pattern"] = made.pattern | {"shape": shape, "longest": longest}


def _deep(made: SoftmaxPattern) -> None:
    """Let each leaf divide what heads add many times."""
    tree = [1, 1, 1, 1]
    for _ in range(13):
        tree = {"head": "0.1", "at": [0], "parts": [tree, tree]}
    evidence = made.answers[0]["evidence"]
    made.answers[0]["evidence"] = {"decided": 0, "cuts": [{"over": [1, 2], "tree": tree}]}
    assert evidence


@pytest.mark.parametrize("change", [_long, _deep])
@pytest.mark.parametrize("p", [64, 4096])
def test_no_small_bundle_takes_long(change, p, tmp_path):
    """Whatever its evidence asks for is paid for before it is done."""
    made = SoftmaxPattern(1, TWO, heads=2).accuracy(least="1", evidence={"decided": 0})
    made.p = p
    change(made)
    bundle = made.sealed().write(tmp_path / "bundle")
    begun = time.process_time()
    report = inspect(bundle, Beside())
    assert report.outcome in (Outcome.INVALID, Outcome.INCOMPLETE)
    assert time.process_time() - begun < 10
