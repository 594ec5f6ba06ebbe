import subprocess
import sys

import pytest
import torch

from circuitproof.errors import InputError
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import train_recipe
from circuitproof_lab.train.loop import Watcher
from circuitproof_lab.train.workers import Workers, joined, together
from corpora import corpus_changes, write_corpus
from recipes import write_recipe


def test_a_share_is_what_no_other_process_has():
    """Together they have everything, each thing once."""
    shares = [Workers(3, own).share(range(8)) for own in range(3)]
    assert sorted(item for share in shares for item in share) == list(range(8))


def test_who_works_alone_has_it_all():
    """Nothing is sent, nothing waited for."""
    with joined() as workers:
        assert workers == together() == Workers(1, 0)
    assert workers.is_first
    assert workers.share((1, 2)) == (1, 2)
    assert workers.total(torch.tensor(3.0)) == 3
    workers.wait()


def test_pieces_that_cannot_be_shared_out_are_refused():
    """One process would wait for nothing at every step."""
    Workers(2).refuse_uneven(4)
    with pytest.raises(InputError, match=r"training.pieces is 3, want a multiple of the 2 processes that"):
        Workers(2).refuse_uneven(3)


@pytest.mark.slow
def test_two_processes_make_the_same_model_as_one(tmp_path):
    """Each differentiates one of two pieces; the sum of two gradients is the same in either order."""
    write_corpus(tmp_path)
    recipe = write_recipe(tmp_path / "corpus.toml", corpus_changes() | {"training.pieces": "2"})
    train_recipe(load_recipe(recipe), tmp_path / "alone", Watcher())
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, "-m", "circuitproof", "train", str(recipe), "--out", str(tmp_path / "both")]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # our own interpreter
    contents = [
        {path.name: path.read_bytes() for path in (tmp_path / name / "model").iterdir()}
        for name in ("alone", "both")
    ]
    assert contents[0] == contents[1]
