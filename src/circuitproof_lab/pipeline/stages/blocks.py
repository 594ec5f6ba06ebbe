"""The stage of block regression: the union of a circuit's heads beside the blocks that they are heads of."""

from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.files.run import Run
from circuitproof.find.choices import RemovalUnit
from circuitproof.find.objective import measures_of, target_from
from circuitproof.find.parts import parts_of
from circuitproof.nn.decisions import answer_margins, score_of, task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.records.blocks import BLOCKS, BlockRegression


def block_circuit(circuit: Circuit) -> Circuit:
    """Return the circuit of all edges between two blocks of which a circuit has one."""
    parts = parts_of(circuit.graph, RemovalUnit.BLOCK)
    return circuit_of(circuit.graph, [edge for part in parts if circuit.edges & {*part} for edge in part])


def regress(run: Run, model: Transformer, behaviour: Behaviour, name: str = BLOCKS) -> BlockRegression:
    """Return whether the heads of a circuit decide together as their blocks do, measured once."""
    task = behaviour.task

    def measure() -> BlockRegression:
        heads, blocks = behaviour.circuit.live(), block_circuit(behaviour.circuit.live())
        logits = task_logits(model, task, [heads, blocks])
        right, block_right = (score_of(row, task.name).right for row in answer_margins(task, logits))
        (agreement,) = measures_of(target_from(logits[1]), logits[:1])
        return BlockRegression(
            task=task.name,
            prompts=task.size,
            head_edges=len(heads),
            block_edges=len(blocks),
            heads=len(heads.heads()),
            block_heads=len(blocks.heads()),
            agreed=agreement.agreed,
            right=right,
            block_right=block_right,
            largest_difference=float((logits[0] - logits[1]).abs().max()),
        )

    return run.record(name, BlockRegression, measure, f"{task.name}: block regression")
