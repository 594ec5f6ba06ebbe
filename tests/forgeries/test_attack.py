"""Random whole bundles: what the checker accepts is true, and it accepts bundles of every kind.

`python tests/attack.py --seeds 0:100000 --out build/attack` is the same at length.
"""

import json

import pytest

from attack import attack, resealed, shortfalls, table, tally
from bundle_twin import read_bundle
from mutant_hunt import oracle, tell
from random_claims import known_ask

OTHER = {"proved": "refuted", "refuted": "proved"}


@pytest.mark.slow
def test_random_bundles_are_accepted_only_if_they_are_true(tmp_path):
    """Half of them are honest, the others lied or changed; each property and kind of leaf is there."""
    counts, lies = tally(attack(range(1500, 2000), tmp_path / "progress.jsonl"))
    assert not lies, "\n".join(map(json.dumps, lies))
    assert not shortfalls(counts), table(counts)


def test_an_attack_goes_on_where_it_was_stopped(tmp_path):
    """What was tried before is not tried again, even if the last line was cut off."""
    progress = tmp_path / "progress.jsonl"
    first = attack(range(3), progress)
    progress.write_text("\n".join([*progress.read_text().splitlines()[:2], '{"seed": 2, "the']) + "\n")
    before = progress.read_text()
    assert attack(range(3), progress) == first
    assert progress.read_text().startswith(before)


@pytest.mark.parametrize("seed", [1, 4, 5, 6, 9, 10, 16, 17, 21, 34])
def test_the_oracle_contradicts_verdicts_that_are_turned_around(seed, tmp_path):
    """It would find nothing if it agreed with everybody."""
    found = tell(known_ask(seed), tmp_path)
    assert found.bundle is not None
    assert not oracle(found, has_base=False)
    claim, domain, certificate = read_bundle(found.bundle)
    for answer in certificate["answers"]:
        answer["verdict"] = OTHER.get(answer["verdict"], answer["verdict"])
    resealed(found.bundle, (claim, domain, certificate))
    decided = sum(answer["verdict"] != "undecided" for answer in certificate["answers"])
    assert len(oracle(found, has_base=False)) == decided
