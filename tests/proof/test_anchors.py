from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.circuit import whole
from circuitproof.forward.frozen import open_model
from circuitproof.models.operators import Attention, Gelu, GeluForm
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.anchors import spread_anchors, unshared_logits, unshared_row
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.fold import fold
from models import NORMS, PROGRAMS, random_model, tiny_architecture

PROMPTS = ((0, 1, 2, 3, 4), (6, 1, 2), (5, 5, 5, 5), (0, 1, 2, 3, 5))


def test_an_evaluation_that_shares_nothing_gives_the_fold(tmp_path):
    """Norm-free and BandNorm, neural and program heads; signs are counted at every position."""
    for index, (norm, programs) in enumerate([(NORMS[0], {}), (NORMS[0], PROGRAMS), (NORMS[2], PROGRAMS)]):
        model = random_model(tiny_architecture(norm=norm), index, programs)
        save_model(tmp_path / str(index), StoredModel(model, None))
        frozen, circuit = open_model(tmp_path / str(index)), whole(model.graph)
        folded = fold(frozen, (0, 1), [circuit], PROMPTS).of(circuit)
        for prompt, found in zip(PROMPTS, folded, strict=True):
            logits, signs = unshared_logits(frozen, circuit, (0, 1), prompt)
            assert logits == found.logits
            assert signs == 2 * model.architecture.mlp_width * len(prompt)


def test_enclosed_logits_of_an_evaluation_that_shares_nothing_are_those_of_the_fold(tmp_path):
    """To the last bit, with their radii: a row is computed alike beside others and alone."""
    sizes = tiny_architecture(attention=Attention.SOFTMAX, activation=Gelu(GeluForm.TANH), norm=NORMS[1])
    save_model(tmp_path / "model", StoredModel(random_model(sizes, 1, PROGRAMS), None))
    frozen, arithmetic = open_model(tmp_path / "model"), EnclosedNumbers()
    circuit = whole(frozen.graph)
    folded = fold(frozen, (0, 1), [circuit], PROMPTS, arithmetic=arithmetic).of(circuit)
    for prompt, found in zip(PROMPTS, folded, strict=True):
        row = unshared_row(frozen, circuit, (0, 1), prompt, arithmetic)
        assert row == (found.numbers, found.reach, found.unit)


@given(st.integers(1, 2000), st.integers(1, 20))
def test_anchors_are_distinct_and_reach_both_ends(prompts, count):
    """As many as asked for, or every prompt."""
    places = spread_anchors(prompts, count)
    assert len(set(places)) == len(places) <= count
    assert places[0] == 0
    if count > 1:
        assert places[-1] == prompts - 1
        assert len(places) >= min(count, prompts) - 1
