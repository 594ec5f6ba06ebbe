"""What a forward pass hands out besides logits."""

from dataclasses import replace
from itertools import pairwise

import pytest

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import grid_of_fractions, zeros
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import whole
from circuitproof.errors import NotExactError
from circuitproof.forward.binding import PrefixBinding
from circuitproof.forward.cells import Cells
from circuitproof.forward.forward import Disturbance, Forward, Trace
from circuitproof.forward.interface import Side
from circuitproof.models.operators import Attention, Gelu, GeluForm
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof_check.main import Outcome, check
from hand_models import IDENTITY, PLAIN, READ_OFF, build, circuit_of, freeze, table_task
from models import NORMS, PROGRAMS, random_model, tiny_architecture

PROMPTS = [(0, 3), (1, 2), (1, 2, 4)]


def passed(norm=NORMS[0], programs=None, **changes):
    """Return the forward pass of a whole model on a few prompts, and its logits stage."""
    frozen = freeze(random_model(tiny_architecture(norm=norm, **changes), 2, programs or {}))
    cells = Cells(PrefixBinding(frozen.programs), biases=True)
    stage, _ = cells.cells(whole(frozen.graph), PROMPTS)
    return Forward(frozen, cells, Exact(), (0, 1)), stage


class Counting(Exact):
    """Exact numbers that count activations."""

    def activate(self, values, activation):
        """Apply an activation, and count it."""
        self.count = getattr(self, "count", 0) + 1
        return super().activate(values, activation)


def test_a_stage_is_computed_when_it_is_asked_for_and_once():
    """Up to the first MLP one activation; the logits need the second, and nothing twice."""
    forward, stage = passed()
    counting = Counting()
    trace = Trace(Forward(forward.frozen, forward.cells, counting, (0, 1)))
    first, second = (n for n, one in enumerate(forward.cells.stages) if str(one.node).startswith("mlp"))
    for number, count in ((first, 1), (first, 1), (second, 2), (stage, 2), (stage, 2)):
        trace.output(number)
        assert counting.count == count


@pytest.mark.parametrize("programs", [PROGRAMS, {}])
@pytest.mark.parametrize("norm", [NORMS[0], NORMS[2]])
def test_the_input_of_a_stage_is_the_sum_of_what_it_reads(norm, programs):
    """The logits stage alone, given its residual by hand, has the same logits; so has the split sum."""
    forward, stage = passed(norm, programs)
    trace = Trace(forward)
    residual = trace.at(stage, Side.INPUT)
    rows = tuple(range(residual.shape[0]))
    nothing = {number: zeros(*output.shape) for number, output in trace.outputs.items() if number != stage}
    alone = Forward(forward.frozen, forward.cells, Exact(), (0, 1), may_split=False)
    rest = Trace(alone, nothing).at(stage, Side.INPUT).fractions()
    missing = [
        [a - b for a, b in zip(*pair, strict=True)] for pair in zip(residual.fractions(), rest, strict=True)
    ]
    added = Disturbance(grid_of_fractions(missing, residual.shape[1]), {(stage, Side.INPUT): rows})
    moved = Forward(forward.frozen, forward.cells, Exact(), (0, 1), added)
    assert Trace(moved, nothing).output(stage).fractions() == trace.output(stage).fractions()
    whole_sums = Trace(alone).output(stage).fractions()
    assert whole_sums == trace.output(stage).fractions()


def test_a_disturbance_enters_where_it_is_told_to():
    """An output is what it was with the added rows, and a row may take none of them."""
    forward, _ = passed()
    number = next(n for n, one in enumerate(forward.cells.stages) if str(one.node) == "mlp 0")
    plain = Trace(forward).at(number, Side.OUTPUT)
    count, width = plain.shape
    added = Disturbance(
        grid_of_fractions([[1] * width, [0] * width], width),
        {(number, Side.OUTPUT): (0, *(1,) * (count - 1))},
    )
    moved = Trace(Forward(forward.frozen, forward.cells, Exact(), (0, 1), added)).output(number).fractions()
    first, *others = plain.fractions()
    assert moved == (tuple(entry + 1 for entry in first), *others)


def test_what_is_given_is_not_computed_again():
    """Neither outputs, nor what a stage has read."""
    forward, stage = passed()
    trace = Trace(forward)
    logits = trace.output(stage)
    number = next(n for n, one in enumerate(forward.cells.stages) if str(one.node) == "mlp 1")
    reads = {number: trace.read(number)}
    outputs = {n: output for n, output in trace.outputs.items() if n < number}
    counting = Counting()
    again = Trace(Forward(forward.frozen, forward.cells, counting, (0, 1)), outputs, reads)
    assert again.output(stage).fractions() == logits.fractions()
    assert counting.count == 1
    assert again.read(number) is reads[number]


def test_a_single_row_of_a_stage_can_stand_alone():
    """With what comes before it given."""
    forward, stage = passed()
    trace = Trace(forward)
    logits = trace.output(stage).fractions()
    before = {n: output for n, output in trace.outputs.items() if n != stage}
    for row in range(len(logits)):
        alone = Forward(forward.frozen, forward.cells.alone(stage, row), Exact(), (0, 1))
        assert Trace(alone, before).output(stage).fractions() == (logits[row],)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"attention": Attention.SOFTMAX}, "head 0.0: softmax attention has no exact value"),
        ({"activation": Gelu(GeluForm.TANH)}, "mlp 0: GELU has no exact value"),
    ],
)
def test_what_has_no_exact_value_is_named_with_its_node(changes, found):
    """The first one that is needed."""
    forward, stage = passed(**changes)
    with pytest.raises(NotExactError, match=f"^{found}"):
        Trace(forward).output(stage)


@pytest.mark.parametrize("node", ["mlp {}", "head {}.0"])
def test_a_chain_of_four_hundred_layers_is_proved_and_checked(node, tmp_path):
    """Neither laying the stages out nor computing them calls itself from layer to layer."""
    sizes = replace(PLAIN, layers=400)
    names = ["embed", *(node.format(layer) for layer in range(sizes.layers)), "logits"]
    maps = ("head.{}.0.value", "head.{}.0.output", "mlp.{}.up", "mlp.{}.down")
    weights = {f"{one.format(layer)}.weight": IDENTITY for one in maps for layer in range(sizes.layers)}
    model = build({**weights, "embed.token": READ_OFF, "logits.weight": READ_OFF}, sizes)
    circuit = circuit_of([f"{a} -> {b}" for a, b in pairwise(names)], layers=sizes.layers)
    claim = Claim(freeze(model), circuit, table_task({(0,): 0, (1,): 1}), (Equivalence(),))
    write_bundle(tmp_path / "bundle", prove(claim))
    assert check(tmp_path / "bundle")[0] is Outcome.VALID
