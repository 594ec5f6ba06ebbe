"""A claim: model × circuit × task × properties. Holding one is proof that the parts fit together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from circuitproof.circuits.ablation import ZERO, Ablation, Zero, ablated_prompts, is_uniform
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Granularity, Graph, Port, Use
from circuitproof.circuits.readers import readers, reads_prompt
from circuitproof.circuits.smaller import circuits_of_size
from circuitproof.errors import DeclarationError, InputError
from circuitproof.forward.cells import Variant, refuse_unreadable
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.substitutes import SubstitutedBinding
from circuitproof.models.declaration import ProgramHeads
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, EnclosedNumbers, ExactNumbers
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.robustness import Directions
from circuitproof.tasks.domain import Domain, Prompt
from circuitproof.tasks.patterns import Pattern
from circuitproof.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be proved of a frozen model's circuit on a task."""

    frozen: Frozen
    circuit: Circuit
    task: Task
    properties: tuple[Property, ...]
    arithmetic: ClaimArithmetic = EXACT

    def __post_init__(self) -> None:
        refuse_misfit(self.frozen, self.circuit, self.properties)
        match self.task.domain:
            case Domain(prompts):
                self._refuse_misfit_list(prompts)
            case Pattern(longest=longest):
                self._refuse_misfit_pattern(longest)
            case _:
                assert_never(self.task.domain)
        if self.frozen.position != self.task.position:
            raise DeclarationError(
                f"the model is read at position {self.frozen.position}, task {self.task.name!r} at "
                f"{self.task.position}"
            )
        self.task.refuse_other_alphabet(self.frozen.declaration.alphabet)
        for prop in self.properties:
            prop.refuse_misfit(self)

    def _refuse_misfit_list(self, prompts: tuple[Prompt, ...]) -> None:
        sizes = self.frozen.architecture
        if unknown := [token for token in self.task.rule_tokens() if token >= sizes.vocabulary]:
            raise InputError(
                f"task {self.task.name!r} speaks of token {unknown[0]}, which is not in the model's "
                f"{sizes.vocabulary} tokens; use a model of its alphabet"
            )
        self.task.refuse_other_outputs(sizes.predicted)
        refuse_unreadable(prompts, sizes.vocabulary, sizes.context)
        self._refuse_misfit_ablation(prompts)

    def _refuse_misfit_ablation(self, prompts: tuple[Prompt, ...]) -> None:
        """Refuse cut edges that carry nothing that is known on some prompt."""
        sizes, ablation = self.frozen.architecture, self.circuit.ablation
        try:
            refuse_unreadable(ablated_prompts(ablation), sizes.vocabulary, sizes.context)
        except InputError as error:
            raise InputError(f"{ablation.kind} ablation: {error}") from error
        if not isinstance(ablation, Zero):
            binding = SubstitutedBinding(self.frozen.programs, ablation)
            for prompt in prompts:
                binding.substitute(binding.at(prompt, len(prompt)))

    def _refuse_misfit_pattern(self, longest: int) -> None:
        sizes, task = self.frozen.architecture, self.task
        task.refuse_other_outputs(sizes.predicted)
        if not isinstance(self.circuit.ablation, Zero):
            raise InputError(
                f"{self.circuit.ablation.kind} ablation is not known over patterns; list prompts"
            )
        if not sizes.is_causal:
            raise InputError("attention without a mask is not known over patterns; list prompts")
        if self.circuit.graph.granularity is Granularity.PORT:
            raise InputError("query, key and value are not told apart over patterns; use whole heads")
        self._refuse_unknown_over_patterns()
        if len(task.alphabet) != sizes.vocabulary:
            raise InputError(
                f"task {task.name!r} has a vocabulary of {len(task.alphabet)} tokens, "
                f"the model of {sizes.vocabulary}"
            )
        if longest > sizes.context:
            raise InputError(
                f"the pattern has prompts of up to {longest} tokens, "
                f"the model's context is {sizes.context}; add 'up to {sizes.context} tokens'"
            )

    def _refuse_unknown_over_patterns(self) -> None:
        arithmetic = self.arithmetic
        is_exact = isinstance(arithmetic, ExactNumbers)
        if not isinstance(arithmetic, ExactNumbers | EnclosedNumbers):
            raise InputError(f"{arithmetic.kind} arithmetic is not known over patterns; list prompts")
        if not is_exact and (operator := arithmetic.lacking(self.frozen.architecture)) is not None:
            raise InputError(f"the model uses {operator}, which is not enclosed; list prompts")

        def is_known(prop: Property | type[Property]) -> bool:
            return prop.is_known_on_patterns if is_exact else prop.is_enclosed_on_patterns

        if unknown := [prop.kind for prop in self.properties if not is_known(prop)]:
            from circuitproof.proof.properties.catalogue import PROPERTIES  # which needs claims itself

            *most, last = (kind for kind, one in PROPERTIES.items() if is_known(one))
            raise InputError(
                f"{unknown[0]} is not known over patterns in {arithmetic.kind} arithmetic; "
                f"want {', '.join(most)} or {last}"
            )

    def directions(self) -> Directions:
        return Directions(self.frozen.unembedding(self.task.candidates).fractions())

    def among(self) -> "Among":
        """Return the circuits among which the claim's is said to be small."""
        return Among(self.frozen, self.task, self.circuit.graph, self.circuit.ablation)

    def edges(self) -> tuple[Edge, ...]:
        """Return all edges of the model, heads divided as the circuit does."""
        return edges_of(self.frozen, self.circuit.graph)

    def circuits(self) -> tuple[Circuit, ...]:
        """Return every circuit whose logits the properties need, each once, the claim's own first."""
        needed = [circuit for prop in self.properties for circuit in prop.other_circuits(self)]
        return tuple(dict.fromkeys((self.circuit, *needed)))

    def variants(self) -> tuple[Variant, ...]:
        """Return the circuits that are computed on every prompt; smaller ones are tried, not all computed."""
        needed = [one for prop in self.properties for one in prop.variants(self)]
        return tuple(dict.fromkeys((self.circuit, *needed)))


@dataclass(frozen=True, slots=True)
class Among:
    """Circuits of a model of one granularity and ablation, that may decide a task."""

    frozen: Frozen
    task: Task
    graph: Graph
    ablation: Ablation = ZERO

    def contenders(self, edges: Sequence[Edge], size: int, most: int | None = None) -> tuple[Circuit, ...]:
        """Return the circuits of so many edges that may decide the task, in order of edges, or `most`.

        Where a cut edge carries the same for all prompts, or nothing, so does a circuit that reads no prompt:
        it is left out where two answers are right.
        """
        may_be_blind = is_uniform(self.ablation) and len(self.task.right_answers()) > 1
        fed_by = readers(self.frozen.programs) if may_be_blind else None
        found = circuits_of_size(self.graph, edges, size, fed_by, most)
        return tuple(replace(one, ablation=self.ablation) for one in found)


def edges_of(frozen: Frozen, graph: Graph) -> tuple[Edge, ...]:
    """Return the edges of a model; into a program head no edge leads to a query or a key."""
    return tuple(edge for edge in graph.edges() if not is_unread(edge, frozen.programs))


def is_unread(edge: Edge, programs: ProgramHeads) -> bool:
    """Say whether an edge leads to a query or a key that a program head does not have."""
    port = edge.target
    return isinstance(port, Port) and port.use is not Use.VALUE and port.head in programs


def refuse_unread_ports(circuit: Circuit, programs: ProgramHeads) -> None:
    """Refuse an edge into a query or a key of a program head."""
    if strange := [edge for edge in circuit if is_unread(edge, programs)]:
        raise InputError(f"{strange[0]} leads nowhere: a program head has a value port only")


def refuse_other_graph(frozen: Frozen, circuit: Circuit) -> None:
    """Refuse a circuit of a model of other sizes, and what a program head does not read."""
    refuse_unread_ports(circuit, frozen.programs)
    if replace(circuit.graph, granularity=frozen.graph.granularity) != frozen.graph:
        raise InputError(
            f"the circuit is of {circuit.graph.layers} layers of {circuit.graph.heads} heads"
            f"{_mlps(circuit.graph)}, the model has {frozen.graph.layers} of {frozen.graph.heads}"
            f"{_mlps(frozen.graph)}"
        )


def _mlps(graph: Graph) -> str:
    return (" with MLPs beside them" if graph.is_parallel else "") if graph.has_mlps else " without MLPs"


def refuse_misfit(frozen: Frozen, circuit: Circuit, properties: Sequence[Property]) -> None:
    """Refuse a circuit of another model, one that reads no prompt, and no properties or the same ones."""
    refuse_other_graph(frozen, circuit)
    if isinstance(circuit.ablation, Zero) and not reads_prompt(circuit, frozen.programs):
        raise InputError(
            "neither embed nor a program head that may attend nowhere reaches logits along kept edges; "
            "such a circuit reads no prompt"
        )
    about_edges = [one for one in properties if one.is_about_edges]
    if about_edges and not circuit.edges:
        raise InputError(f"the circuit keeps no edge; {about_edges[0].kind} is about edges that are kept")
    kinds = [prop.kind for prop in properties]
    if not kinds or len(set(kinds)) != len(kinds):
        raise InputError(f"a claim wants one or more distinct properties, got {', '.join(kinds) or 'none'}")
