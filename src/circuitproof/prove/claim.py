"""A claim: model × circuit × task × properties. Holding one is proof that the parts fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from circuitproof.declare.circuits.ablation import ZERO, Ablation, Zero, ablated_prompts
from circuitproof.declare.circuits.circuit import Circuit, whole
from circuitproof.declare.circuits.graph import LOGITS, Edge, Granularity, Graph, Head, Port, Use
from circuitproof.declare.circuits.readers import readers, reads_prompt
from circuitproof.declare.circuits.smaller import circuits_of_size
from circuitproof.declare.tasks.domain import Domain, Prompt
from circuitproof.declare.tasks.patterns import Pattern
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError
from circuitproof.forward.binding import Substituted
from circuitproof.forward.cells import BiasKept, Variant, refuse_unreadable
from circuitproof.forward.declaration import ProgramHeads
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface, Side, refuse_misplaced
from circuitproof.forward.reach import refuse_unreached_prompts, unreached
from circuitproof.prove.arithmetic import EXACT, ClaimArithmetic, ExactNumbers
from circuitproof.prove.balls.robustness import Directions
from circuitproof.prove.inexact import inexact_model
from circuitproof.prove.properties import (
    KNOWN_ON_PATTERNS,
    Equivalence,
    Faithfulness,
    Invariance,
    LesionIdentity,
    Minimum,
    Necessity,
    Property,
    Robustness,
    SubsetMinimality,
)


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
        self.task.refuse_other_alphabet(self.frozen.declaration.alphabet)
        for prop in self.properties:
            if isinstance(prop, Robustness) and not prop.at.is_final_residual:
                self._refuse_perturbed(prop.at)
                refuse_misplaced(prop.at, self.circuit, self.task.lengths())
                refuse_unreached_prompts(prop.at, self.unreached(prop), self.task.size)
            if isinstance(prop, Minimum) and self.circuit not in prop.circuits:
                raise InputError("the claim's circuit is not among those that are said to be the minimum")

    def _refuse_perturbed(self, at: Interface) -> None:
        """Refuse to perturb inside a circuit what is not one place, or where cut edges carry something."""
        if not isinstance(self.circuit.ablation, Zero):
            raise InputError(
                f"{at} cannot be perturbed under {self.circuit.ablation.kind} ablation; "
                "perturb 'logits input', or cut to zero"
            )
        is_split = self.circuit.graph.granularity is Granularity.PORT
        if is_split and isinstance(at.node, Head) and at.side is Side.INPUT:
            raise InputError(f"{at} is three inputs where ports are told apart; perturb '{at.node} output'")

    def _refuse_misfit_list(self, prompts: tuple[Prompt, ...]) -> None:
        sizes = self.frozen.architecture
        if unknown := [token for token in self.task.rule_tokens() if token >= sizes.vocabulary]:
            raise InputError(
                f"task {self.task.name!r} speaks of token {unknown[0]}, which is not in the model's "
                f"{sizes.vocabulary} tokens; use a model of its alphabet"
            )
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
            binding = Substituted(self.frozen.programs, ablation)
            for prompt in prompts:
                binding.substitute(binding.at(prompt, len(prompt)))

    def _refuse_misfit_pattern(self, longest: int) -> None:
        sizes, task = self.frozen.architecture, self.task
        if not isinstance(self.arithmetic, ExactNumbers):
            raise InputError(f"{self.arithmetic.kind} arithmetic is not known over patterns; list prompts")
        if not isinstance(self.circuit.ablation, Zero):
            raise InputError(
                f"{self.circuit.ablation.kind} ablation is not known over patterns; list prompts"
            )
        if self.circuit.graph.granularity is Granularity.PORT:
            raise InputError("query, key and value are not told apart over patterns; use whole heads")
        if unknown := [prop.kind for prop in self.properties if prop.kind not in KNOWN_ON_PATTERNS]:
            *most, last = KNOWN_ON_PATTERNS
            raise InputError(f"{unknown[0]} is not known over patterns; want {', '.join(most)} or {last}")
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

    def unreached(self, prop: Robustness) -> int:
        """Return how many prompts have logits that the perturbation does not reach.

        Of a pattern, only that none is reached at the logits is told: then no prompt ends at a position.
        """
        if isinstance(self.task.domain, Domain):
            return unreached(prop.at, self.circuit, self.frozen.programs, self.task.prompts)
        ends = (length - 1 in prop.at.places(length) for length in self.task.lengths())
        return 0 if prop.at.node != LOGITS or any(ends) else self.task.size

    def directions(self) -> Directions:
        return Directions(self.frozen.unembedding(self.task.candidates).fractions())

    def smaller_circuits(self, prop: "SubsetMinimality | Minimum") -> tuple[Circuit, ...]:
        """Return every circuit that a property about size speaks of, by size and then in order of edges."""
        edges = self.edges() if isinstance(prop, Minimum) else tuple(self.circuit)
        sizes = range(len(self.circuit) + 1)
        return tuple(one for size in sizes for one in self.among().contenders(edges, size))

    def among(self) -> "Among":
        """Return the circuits among which the claim's is said to be small."""
        return Among(self.frozen, self.task, self.circuit.graph, self.circuit.ablation)

    def edges(self) -> tuple[Edge, ...]:
        """Return all edges of the model, heads divided as the circuit does."""
        return edges_of(self.frozen, self.circuit.graph)

    def circuits(self) -> tuple[Circuit, ...]:
        """Return every circuit whose logits the properties need, each once, the claim's own first."""
        needed = [circuit for prop in self.properties for circuit in self._other_circuits(prop)]
        return tuple(dict.fromkeys((self.circuit, *needed)))

    def _other_circuits(self, prop: Property) -> Sequence[Circuit]:
        """Return the circuits that a property needs beside the claim's own."""
        match prop:
            case Necessity():
                return self.circuit.lesions()
            case SubsetMinimality() | Minimum():
                return self.smaller_circuits(prop)
            case Faithfulness() if inexact_model(self.frozen, self.arithmetic) is None:
                return (whole(self.frozen.graph),)
            case Equivalence() | Invariance() | Robustness() | Faithfulness() | LesionIdentity():
                return ()
            case _:
                assert_never(prop)

    def variants(self) -> tuple[Variant, ...]:
        """Return the circuits that are computed on every prompt; smaller ones are tried, not all computed."""
        needed = [one for prop in self.properties for one in self.variants_of(prop)]
        return tuple(dict.fromkeys((self.circuit, *needed)))

    def variants_of(self, prop: Property) -> tuple[Variant, ...]:
        """Return those of them that one property needs; necessity wants lesions with a shared bias kept."""
        kept = self.kept_biases().values() if isinstance(prop, Necessity) else ()
        is_tried = isinstance(prop, SubsetMinimality | Minimum)
        return (self.circuit, *(() if is_tried else self._other_circuits(prop)), *kept)

    def obligations(self, prop: Property) -> int:
        """Return how many obligations a property has: prompts, or classes, edges or circuits of a list."""
        match prop:
            case Invariance():
                return len(self.task.classes())
            case Necessity():
                return len(self.circuit)
            case SubsetMinimality() | Minimum():
                return len(self.smaller_circuits(prop))
            case Equivalence() | Robustness() | Faithfulness() | LesionIdentity():
                return self.task.size
            case _:
                assert_never(prop)

    def kept_biases(self) -> Mapping[Edge, BiasKept]:
        """Return for necessity the lesions with a shared bias kept, by edge, where there is one."""
        has_lesions = any(isinstance(prop, Necessity) for prop in self.properties)
        kept = {edge: bias_kept(self.frozen, self.circuit, edge) for edge in self.circuit if has_lesions}
        return {edge: variant for edge, variant in kept.items() if variant is not None}


def bias_kept(frozen: Frozen, circuit: Circuit, edge: Edge) -> BiasKept | None:
    """Return a circuit without an edge whose target still reads the bias that went with it, if one did.

    One did if the edge comes from the only head of its layer that the target keeps.
    """
    is_shared = frozen.architecture.biases and isinstance(circuit.ablation, Zero)
    if not isinstance(edge.source, Head) or not is_shared:
        return None
    layer = edge.source.layer
    rivals = [s for s in circuit.sources(edge.target) if isinstance(s, Head) and s.layer == layer]
    return BiasKept(circuit.without(edge), edge.target, layer) if len(rivals) == 1 else None


@dataclass(frozen=True, slots=True)
class Among:
    """Circuits of a model of one granularity and ablation, that may decide a task."""

    frozen: Frozen
    task: Task
    graph: Graph
    ablation: Ablation = ZERO

    def contenders(self, edges: Sequence[Edge], size: int, most: int | None = None) -> tuple[Circuit, ...]:
        """Return the circuits of so many edges that may decide the task, in order of edges, or `most`.

        Where a cut edge carries nothing, a circuit that reads no prompt has the same logits for all: it is
        left out where two answers are right.
        """
        may_be_blind = isinstance(self.ablation, Zero) and len(self.task.right_answers()) > 1
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
    return "" if graph.has_mlps else " without MLPs"


def refuse_misfit(frozen: Frozen, circuit: Circuit, properties: Sequence[Property]) -> None:
    """Refuse a circuit of another model, one that reads no prompt, and no properties or the same ones."""
    refuse_other_graph(frozen, circuit)
    if isinstance(circuit.ablation, Zero) and not reads_prompt(circuit, frozen.programs):
        raise InputError(
            "neither embed nor a program head that may attend nowhere reaches logits along kept edges; "
            "such a circuit reads no prompt"
        )
    about_edges = [one for one in properties if isinstance(one, Necessity | SubsetMinimality | Minimum)]
    if about_edges and not circuit.edges:
        raise InputError(f"the circuit keeps no edge; {about_edges[0].kind} is about edges that are kept")
    kinds = [prop.kind for prop in properties]
    if not kinds or len(set(kinds)) != len(kinds):
        raise InputError(f"a claim wants one or more distinct properties, got {', '.join(kinds) or 'none'}")
