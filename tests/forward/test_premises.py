"""The premises about circuits that the specification states, each with a search for its counterexample.

What specification, prover and checker all believe, no mutant of one of them can show to be false. So nothing
of them is used to compute here: models of every kind are drawn at random and evaluated by the slow oracle.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from types import SimpleNamespace

import pytest

import bundle_maker as maker
from bundle_twin import Carried, Run, add, backwards, dead, feeding, is_reader, reached, reads
from circuitproof.circuits import readers
from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.forward.interface import Side
from circuitproof.forward.reach import readings
from circuitproof.programs.lines import parse_lines
from circuitproof_check import architecture as checker
from circuitproof_check import remarks
from circuitproof_check.claim import read_programs
from random_claims import BAND, Spelled, Theme, random_program, random_sizes, random_tensors

SEEDS = range(60)
UNIFORM = (None, "all")
"""What cut edges carry that is the same at every position of every prompt: nothing, or a mean over all."""
NORMS = ({"kind": "none"}, BAND | {"lift": "reference"}, BAND | {"lift": "continuous"})


class Drawn:
    """A random model with exact operators, random sets of its edges, and prompts of several lengths.

    Those of odd seeds tell the ports of heads apart. A cut edge carries nothing, or a mean over something.
    """

    def __init__(self, seed, otherwise=None, over=None):
        draw = Random(f"premise {seed}")  # noqa: S311  # models, not secrets
        size = random_sizes(draw, Theme((), features=frozenset({"neural"})))
        size |= {"norm": NORMS[seed % 3], "biases": seed % 4 != 0, "width": max(2, size["width"])}
        heads = [f"{layer}.{index}" for layer in range(size["layers"]) for index in range(size["heads"])]
        programs = {head: random_program(draw, size) for head in heads if draw.random() < 0.6}
        for lines in programs.values():
            lines[-1] = f"otherwise {otherwise}" if otherwise else lines[-1]
        self.spelled = Spelled(size, programs, random_tensors(draw, size, programs))
        self.model, self.size, self.programs, self.draw = self.spelled.meant(), size, programs, draw
        self.is_split = seed % 2 == 1
        self.every = maker.every_edge(size, programs if self.is_split else None)
        self.candidates = list(range(size["vocabulary"]))
        lengths = [draw.randint(1, size["context"]) for _ in range(6)]
        self.prompts = [tuple(draw.choices(self.candidates, k=length)) for length in lengths]
        listed = [list(one) for one in dict.fromkeys(self.prompts)]
        self.ablation = "zero" if over is None else {"kind": "mean", "over": over, "prompts": listed}
        self.carried = Carried(self.model, self.ablation)

    def circuits(self, count=12):
        """Return random sets of edges, in order."""
        chosen = [
            set(self.draw.sample(self.every, self.draw.randint(0, min(6, len(self.every)))))
            for _ in range(count)
        ]
        return [[edge for edge in self.every if edge in one] for one in chosen]

    def circuit(self, edges):
        """Return a circuit as a claim states it."""
        return maker.circuit_of(self.size, edges, granularity="port" if self.is_split else "head")

    def run(self, edges):
        return Run(self.model, edges, carried=self.carried)

    def logits(self, edges):
        """Return the logits of each prompt."""
        run = self.run(edges)
        return [run.logits(self.candidates, prompt) for prompt in self.prompts]

    def is_alike(self, edges):
        """Say whether all prompts have the same logits."""
        found = self.logits(edges)
        return all(one == found[0] for one in found)


def checked_programs(drawn):
    """Return the programs as the checker reads them."""
    sizes = checker.read_architecture(drawn.size, "model")
    return read_programs(drawn.programs, "programs", sizes)[1]


def checked_edges(drawn, edges):
    """Return edges as the checker reads them."""
    sizes = checker.read_architecture(drawn.size, "model")
    shape = checker.CircuitShape(drawn.is_split, checked_programs(drawn))
    return checker.read_edges(edges, "circuit", sizes, shape)


def is_constant(node, edges, programs):
    """Say whether a node is no reader and none has a path to it; where a head looks does not matter."""
    telling = [edge for edge in edges if not edge.endswith((" query", " key"))]
    fed = reached([backwards(edge) for edge in telling], node)
    return not any(is_reader(one, programs) for one in fed)


@pytest.mark.parametrize("over", UNIFORM)
@pytest.mark.parametrize("seed", SEEDS)
def test_without_its_dead_edges_a_circuit_has_the_same_logits(seed, over):
    """Premise: dead edges."""
    drawn = Drawn(seed, over=over)
    for edges in drawn.circuits():
        live = [edge for edge in edges if edge not in dead(edges)]
        assert drawn.logits(edges) == drawn.logits(live)


@pytest.mark.parametrize("over", UNIFORM)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_circuit_that_does_not_read_its_prompt_has_the_same_logits_for_all(seed, over):
    """Premise: blind circuits. Whole sets of edges without readers are tried, not only small ones."""
    drawn = Drawn(seed, over=over)
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


def test_under_means_by_position_what_does_not_read_its_prompt_can_tell_prompts_apart():
    """So blind circuits and chains need their condition: a cut edge carries what differs by position.

    A program that always attends tells prompts of one length apart too, by where it looks.
    """
    by_length = by_tokens = 0
    for seed in SEEDS:
        drawn = Drawn(seed, otherwise="self", over="position")
        by_length += not drawn.is_alike([])
        pairs = [one for one in drawn.prompts if len(one) == max(map(len, drawn.prompts))]
        drawn.prompts = [*pairs, pairs[0][::-1], (pairs[0][0],) * len(pairs[0])]
        by_tokens += any(not drawn.is_alike([f"head {place} -> logits"]) for place in drawn.programs)
    assert (by_length > 0, by_tokens > 0) == (True, True)


@pytest.mark.parametrize("over", UNIFORM)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_constant_node_puts_out_the_same_everywhere(seed, over):
    """Premise: constants."""
    drawn = Drawn(seed, over=over)
    for edges in drawn.circuits():
        run = drawn.run(edges)
        nodes = {edge.split(" -> ")[0] for edge in edges}
        for node in (node for node in nodes if is_constant(node, edges, drawn.programs)):
            prefixes = [prompt[:end] for prompt in drawn.prompts for end in range(1, len(prompt) + 1)]
            found = [run.output(node, prefix) for prefix in prefixes]
            assert all(one == found[0] for one in found)


@pytest.mark.parametrize("over", UNIFORM)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_head_with_a_constant_input_puts_out_the_same_unless_it_may_attend_nowhere(seed, over):
    """Premise: constant input. Rows that sum to one pass a constant on."""
    drawn = Drawn(seed, over=over)
    for index in range(drawn.size["heads"]):
        if is_reader(f"head 0.{index}", drawn.programs):
            continue
        run = drawn.run([])
        prefixes = [prompt[:end] for prompt in drawn.prompts for end in range(1, len(prompt) + 1)]
        found = [run.output(f"head 0.{index}", prefix) for prefix in prefixes]
        assert all(one == found[0] for one in found)


def paths(drawn):
    """Return random paths to the logits that begin at a reader."""
    for _ in range(6):
        readers_there = [edge for edge in drawn.every if is_reader(edge.split(" -> ")[0], drawn.programs)]
        path = [drawn.draw.choice(readers_there)]
        while not path[-1].endswith(" -> logits"):
            node = maker.reader(path[-1].split(" -> ")[1])
            path.append(drawn.draw.choice([edge for edge in drawn.every if edge.startswith(f"{node} -> ")]))
        yield path


def lesions(edges):
    """Return a circuit without each of its edges."""
    return [[edge for edge in edges if edge != cut] for cut in edges]


@pytest.mark.parametrize("over", UNIFORM)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_chain_without_one_of_its_edges_has_the_same_logits_for_all(seed, over):
    """Premise: chains. A path is one if only its first node is a reader."""
    drawn = Drawn(seed, over=over)
    for path in paths(drawn):
        sources = [edge.split(" -> ")[0] for edge in path]
        is_chain = [is_reader(node, drawn.programs) for node in sources] == [True] + [False] * (len(path) - 1)
        assert is_chain is not any(reads(rest, drawn.programs) for rest in lesions(path))
        assert not is_chain or all(map(drawn.is_alike, lesions(path)))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_reads_its_prompt_by_each_of_its_edges_is_a_path(seed):
    """Premise: chains, the other way round; prover and checker find the same."""
    drawn = Drawn(seed)
    sizes = checker.read_architecture(drawn.size, "model")
    heads = {Head(*map(int, place.split("."))): lines for place, lines in drawn.programs.items()}
    parsed = {head: parse_lines(lines, "program", drawn.size["vocabulary"]) for head, lines in heads.items()}
    for edges in (*drawn.circuits(), *paths(drawn)):
        if not reads(edges, drawn.programs):
            continue
        wanted = not any(reads(rest, drawn.programs) for rest in lesions(edges))
        circuit = parse_circuit(drawn.circuit(edges), "circuit")
        assert readers.needs_each_edge_to_read(circuit, parsed) is wanted
        claim = SimpleNamespace(
            edges=checked_edges(drawn, edges),
            programs=checked_programs(drawn),
            architecture=sizes,
        )
        assert remarks._is_chain(claim) is wanted
        assert not wanted or len({edge.split(" -> ")[0] for edge in edges}) == len(edges)


def test_a_chain_with_a_second_reader_can_do_without_an_edge():
    """So the premise needs its condition."""
    found = 0
    for seed in SEEDS:
        drawn = Drawn(seed, otherwise="nowhere")
        found += any(not drawn.is_alike(path[1:]) for path in paths(drawn))
    assert found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_circuit_that_lacks_only_silent_nodes_is_the_model(seed):
    """Premise: silence. Some nodes are made silent, and edges from and to them left out."""
    drawn = Drawn(seed)
    nodes = sorted({edge.split(" -> ")[0] for edge in drawn.every} - {"embed"})
    chosen = [node for node in nodes if drawn.draw.random() < 0.5]
    for node in chosen:
        parts = ("output.weight",) if node.startswith("head") else ("down.weight", "down.bias")
        for name in (f"{node.replace(' ', '.')}.{part}" for part in parts):
            if name in drawn.spelled.tensors:
                shape, numbers = drawn.spelled.tensors[name]
                drawn.spelled.tensors[name] = (shape, [0.0] * len(numbers))
    drawn.model = drawn.spelled.meant()
    pairs = {edge: edge.split(" -> ") for edge in drawn.every}
    edges = [one for one, (source, target) in pairs.items() if not {source, maker.reader(target)} & {*chosen}]
    restored = with_biases(drawn, edges)
    assert drawn.logits(restored) == drawn.logits(drawn.every)


def with_biases(drawn, edges):
    """Return edges and, where a node lost the shared bias of a layer, one that brings it."""
    if not drawn.size["biases"]:
        return edges
    kept = set(edges)
    for edge in drawn.every:
        source, target = edge.split(" -> ")
        layer = source.removeprefix("head ").split(".")[0]
        others = [e for e in kept if e.startswith(f"head {layer}.") and e.endswith(f" -> {target}")]
        kept |= {edge} if source.startswith("head") and not others else set()
    return [edge for edge in drawn.every if edge in kept]


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
    every = maker.every_edge({"layers": layers, "heads": heads, "mlp_width": 1})
    for size in range(1, 6):
        for edges in combinations(every, size):
            if not dead(edges):
                assert any(not dead([edge for edge in edges if edge != cut]) for cut in edges)


def with_other_readouts(drawn):
    """Return the model with other weights of its program heads."""
    readouts = tuple(f"head.{place}." for place in drawn.programs)
    other = {
        name: (shape, [number + 1 for number in numbers] if name.startswith(readouts) else numbers)
        for name, (shape, numbers) in drawn.spelled.tensors.items()
    }
    return replace(drawn.spelled, tensors=other).meant()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tensor_of_a_program_head_that_feeds_nothing_is_read(seed):
    """Premise: lesions; other weights of such heads change nothing."""
    drawn = Drawn(seed)
    heads = {f"head {place}" for place in drawn.programs}
    changed = with_other_readouts(drawn)
    for edges in drawn.circuits():
        kept = [edge for edge in edges if edge.split(" -> ")[0] not in heads]
        before, after = Run(drawn.model, kept), Run(changed, kept)
        assert feeding(kept).isdisjoint(heads)
        for prompt in drawn.prompts:
            assert before.logits(drawn.candidates, prompt) == after.logits(drawn.candidates, prompt)


def test_cut_edges_that_carry_a_mean_read_the_tensors_of_every_program_head():
    """So the premise on lesions needs its condition: other weights, other logits of the empty circuit."""
    told = 0
    for drawn in (Drawn(seed, over="all") for seed in SEEDS):
        changed = with_other_readouts(drawn)
        found = Run(changed, [], carried=Carried(changed, drawn.ablation))
        told += drawn.logits([])[0] != found.logits(drawn.candidates, drawn.prompts[0])
    assert told > len(SEEDS) // 10


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_prover_and_checker_tell_readers_and_constants_as_the_oracle_does(seed):
    """The premises are of use only if both apply them to the circuits of which they hold."""
    drawn = Drawn(seed)
    size, programs = drawn.size, checked_programs(drawn)
    heads = {
        Head(*map(int, place.split("."))): parse_lines(lines, place, size["vocabulary"])
        for place, lines in drawn.programs.items()
    }
    sizes = checker.read_architecture(size, "model")
    for edges in drawn.circuits():
        circuit, kept = parse_circuit(drawn.circuit(edges), "circuit"), checked_edges(drawn, edges)
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
        circuit, prompt = parse_circuit(drawn.circuit(edges), "circuit"), drawn.prompts[0]
        plain = Run(drawn.model, edges).logits(drawn.candidates, prompt)
        read = readings(circuit, heads, prompt)
        sides = [(node, side) for node in circuit.nodes() for side in Side]
        parted = [(node, Side.INPUT) for node in circuit.heads() if drawn.is_split]
        for node, side in (one for one in sides if one not in parted):
            for position in set(range(len(prompt))) - read[node, side]:
                nudges = {(str(node), str(side), position): extra}
                found = Run(drawn.model, edges, nudges).logits(drawn.candidates, prompt)
                assert found == plain
