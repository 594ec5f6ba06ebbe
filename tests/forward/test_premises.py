"""The premises about circuits that the specification states, each with a search for its counterexample.

What specification, prover and checker all believe, no mutant of one of them can show to be false. So nothing
of them is used to compute here: models of every kind are drawn at random and evaluated by the slow oracle.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

import bundle_maker as maker
from bundle_twin import Run, add, dead, feeding, reached, reads
from circuitproof.declare.circuits import readers
from circuitproof.declare.circuits.graph import Head
from circuitproof.declare.circuits.spelling import parse_circuit
from circuitproof.declare.programs.lines import parse_lines
from circuitproof.forward.interface import Side
from circuitproof.forward.reach import readings
from circuitproof_check import architecture as checker
from random_claims import BAND, Spelled, Theme, random_program, random_sizes, random_tensors

SEEDS = range(60)
NORMS = ({"kind": "none"}, BAND | {"lift": "reference"}, BAND | {"lift": "continuous"})


class Drawn:
    """A random model with exact operators, random sets of its edges, and prompts of several lengths."""

    def __init__(self, seed, otherwise=None):
        draw = Random(f"premise {seed}")  # noqa: S311  # models, not secrets
        size = random_sizes(draw, Theme((), features=frozenset({"neural"})))
        size |= {"norm": NORMS[seed % 3], "biases": seed % 4 != 0, "width": max(2, size["width"])}
        heads = [f"{layer}.{index}" for layer in range(size["layers"]) for index in range(size["heads"])]
        programs = {head: random_program(draw, size) for head in heads if draw.random() < 0.6}
        for lines in programs.values():
            lines[-1] = f"otherwise {otherwise}" if otherwise else lines[-1]
        self.spelled = Spelled(size, programs, random_tensors(draw, size, programs))
        self.model, self.size, self.programs, self.draw = self.spelled.meant(), size, programs, draw
        self.every = maker.every_edge(size)
        self.candidates = list(range(size["vocabulary"]))
        lengths = [draw.randint(1, size["context"]) for _ in range(6)]
        self.prompts = [tuple(draw.choices(self.candidates, k=length)) for length in lengths]

    def circuits(self, count=12):
        """Return random sets of edges, in order."""
        chosen = [
            set(self.draw.sample(self.every, self.draw.randint(0, min(6, len(self.every)))))
            for _ in range(count)
        ]
        return [[edge for edge in self.every if edge in one] for one in chosen]

    def logits(self, edges):
        """Return the logits of each prompt."""
        run = Run(self.model, edges)
        return [run.logits(self.candidates, prompt) for prompt in self.prompts]

    def is_alike(self, edges):
        """Say whether all prompts have the same logits."""
        found = self.logits(edges)
        return all(one == found[0] for one in found)


def is_reader(node, programs):
    """Say whether a node looks at tokens by itself."""
    return node == "embed" or node.removeprefix("head ") in programs


def is_constant(node, edges, programs):
    """Say whether a node is no reader and none has a path to it."""
    fed = reached([" -> ".join(edge.split(" -> ")[::-1]) for edge in edges], node)
    return not any(is_reader(one, programs) for one in fed)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_its_dead_edges_a_circuit_has_the_same_logits(seed):
    """Premise: dead edges."""
    drawn = Drawn(seed)
    for edges in drawn.circuits():
        live = [edge for edge in edges if edge not in dead(edges)]
        assert drawn.logits(edges) == drawn.logits(live)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_circuit_that_does_not_read_its_prompt_has_the_same_logits_for_all(seed):
    """Premise: blind circuits. Whole sets of edges without readers are tried, not only small ones."""
    drawn = Drawn(seed)
    unread = [edge for edge in drawn.every if not is_reader(edge.split(" -> ")[0], drawn.programs)]
    blind = [edges for edges in drawn.circuits(40) if not reads(edges, drawn.programs)]
    for edges in (unread, [], *blind):
        assert not reads(edges, drawn.programs)
        assert drawn.is_alike(edges)


def test_a_program_head_tells_prompts_apart_without_any_source():
    """Premise: readers. This is why a circuit without the embedding is not blind."""
    told = 0
    for seed in SEEDS:
        drawn = Drawn(seed, otherwise="nowhere")
        told += any(not drawn.is_alike([f"head {place} -> logits"]) for place in drawn.programs)
    assert told > len(SEEDS) // 10


@pytest.mark.parametrize("seed", SEEDS)
def test_a_constant_node_puts_out_the_same_everywhere(seed):
    """Premise: constants."""
    drawn = Drawn(seed)
    for edges in drawn.circuits():
        run = Run(drawn.model, edges)
        nodes = {edge.split(" -> ")[0] for edge in edges}
        for node in (node for node in nodes if is_constant(node, edges, drawn.programs)):
            prefixes = [prompt[:end] for prompt in drawn.prompts for end in range(1, len(prompt) + 1)]
            found = [run.output(node, prefix) for prefix in prefixes]
            assert all(one == found[0] for one in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_head_with_a_constant_input_puts_out_the_same_unless_it_may_attend_nowhere(seed):
    """Premise: constant input. Rows that sum to one pass a constant on."""
    drawn = Drawn(seed, otherwise="self")
    for index in range(drawn.size["heads"]):
        run = Run(drawn.model, [])
        prefixes = [prompt[:end] for prompt in drawn.prompts for end in range(1, len(prompt) + 1)]
        found = [run.output(f"head 0.{index}", prefix) for prefix in prefixes]
        assert all(one == found[0] for one in found)


def paths(drawn):
    """Return random paths from the embedding to the logits."""
    for _ in range(6):
        path, node = [], "embed"
        while node != "logits":
            edge = drawn.draw.choice([edge for edge in drawn.every if edge.startswith(f"{node} -> ")])
            path, node = [*path, edge], edge.split(" -> ")[1]
        yield path


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chain_without_one_of_its_edges_has_the_same_logits_for_all(seed):
    """Premise: chains."""
    drawn = Drawn(seed, otherwise="self")
    for path in paths(drawn):
        for cut in path:
            assert drawn.is_alike([edge for edge in path if edge != cut])


def test_a_chain_with_a_head_that_may_attend_nowhere_can_do_without_an_edge():
    """So the premise needs its condition."""
    found = 0
    for seed in SEEDS:
        drawn = Drawn(seed, otherwise="nowhere")
        found += any(not drawn.is_alike(path[1:]) for path in paths(drawn))
    assert found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_edge_takes_its_sources_output_and_the_bias_of_the_last_head_of_a_layer(seed):
    """Premise: cut edges."""
    drawn = Drawn(seed)
    for edges in drawn.circuits():
        for cut in edges:
            source, target = cut.split(" -> ")
            rest = [edge for edge in edges if edge != cut]
            prompt = drawn.prompts[0]
            without = Run(drawn.model, rest).summed(target, prompt)
            restored = add(without, Run(drawn.model, edges).output(source, prompt))
            layer = source.removeprefix("head ").split(".")[0]
            others = [e for e in rest if e.startswith(f"head {layer}.") and e.endswith(f" -> {target}")]
            if source.startswith("head") and drawn.size["biases"] and not others:
                restored = add(restored, drawn.model.matrix(f"attention.{layer}.output.bias"))
            assert restored == Run(drawn.model, edges).summed(target, prompt)


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (1, 2), (2, 1)])
def test_a_circuit_without_dead_edges_loses_one_edge_and_still_has_none(layers, heads):
    """Premise: growing; every set of up to five edges of small graphs is tried."""
    every = maker.every_edge({"layers": layers, "heads": heads})
    for size in range(1, 6):
        for edges in combinations(every, size):
            if not dead(edges):
                assert any(not dead([edge for edge in edges if edge != cut]) for cut in edges)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tensor_of_a_program_head_that_feeds_nothing_is_read(seed):
    """Premise: lesions; other weights of such heads change nothing."""
    drawn = Drawn(seed)
    heads = {f"head {place}" for place in drawn.programs}
    other = {
        name: (
            shape,
            [number + 1 for number in numbers]
            if name.startswith(tuple(f"head.{p}." for p in drawn.programs))
            else numbers,
        )
        for name, (shape, numbers) in drawn.spelled.tensors.items()
    }
    changed = replace(drawn.spelled, tensors=other).meant()
    for edges in drawn.circuits():
        kept = [edge for edge in edges if edge.split(" -> ")[0] not in heads]
        before, after = Run(drawn.model, kept), Run(changed, kept)
        assert feeding(kept).isdisjoint(heads)
        for prompt in drawn.prompts:
            assert before.logits(drawn.candidates, prompt) == after.logits(drawn.candidates, prompt)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_prover_and_checker_tell_readers_and_constants_as_the_oracle_does(seed):
    """The premises are of use only if both apply them to the circuits of which they hold."""
    drawn = Drawn(seed)
    size, programs = drawn.size, [tuple(map(int, place.split("."))) for place in drawn.programs]
    heads = [Head(*place) for place in programs]
    sizes = checker.read_architecture(size, "model")
    for edges in drawn.circuits():
        spelled = {"layers": size["layers"], "heads": size["heads"], "ablation": "zero", "edges": edges}
        circuit, kept = parse_circuit(spelled, "circuit"), checker.read_edges(edges, "circuit", sizes)
        constant = [e for e in edges if is_constant(e.split(" -> ")[0], edges, drawn.programs)]
        assert [*map(str, readers.constant_edges(circuit, heads))] == constant
        assert [checker.name_of(e, sizes) for e in checker.constant_edges(kept, programs)] == constant
        is_read = not checker.readers(programs).isdisjoint(checker.live_nodes(kept, sizes))
        assert readers.reads_prompt(circuit, heads) == is_read == reads(edges, drawn.programs)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_added_where_nothing_reads_it_changes_nothing(seed):
    """Premise: reach; every side of every node and every position that is not read is perturbed."""
    drawn = Drawn(seed)
    heads = {
        Head(*map(int, place.split("."))): parse_lines(lines, place, drawn.size["vocabulary"])
        for place, lines in drawn.programs.items()
    }
    extra = [Fraction(number) for number in range(5, 5 + drawn.size["width"])]
    for edges in drawn.circuits(4):
        graph = {"layers": drawn.size["layers"], "heads": drawn.size["heads"], "ablation": "zero"}
        circuit, prompt = parse_circuit(graph | {"edges": edges}, "circuit"), drawn.prompts[0]
        plain = Run(drawn.model, edges).logits(drawn.candidates, prompt)
        read = readings(circuit, heads, prompt)
        for node, side in [(node, side) for node in circuit.nodes() for side in Side]:
            for position in set(range(len(prompt))) - read[node, side]:
                nudges = {(str(node), str(side), position): extra}
                found = Run(drawn.model, edges, nudges).logits(drawn.candidates, prompt)
                assert found == plain
