"""What circuits compute in enclosed numbers, many prompts at once."""

from collections.abc import Sequence

from circuitproof_check.ablation import Prompt
from circuitproof_check.architecture import Edges, logits_node
from circuitproof_check.circuits import Biases, Circuit
from circuitproof_check.forward import Forward
from circuitproof_check.work import NUMBER, OBJECT, paid

from .carried import Carried, parts, size_of_row
from .parameters import Parameters
from .places import Places, Store
from .rows import RowBall
from .run import EnclosedRun

_KEPT = 1 << 21
"""How many numbers are kept for other circuits."""


class Enclosures:
    """Evaluates circuits of a claim in enclosed numbers of a precision."""

    def __init__(self, forward: Forward, precision: int) -> None:
        self._forward, self.precision = forward, precision
        self._parameters, self._places = Parameters(forward, precision), Places(forward)
        self._carried = Carried(self._parameters, self._places)
        self._known: Store = {}
        self._logits: Store = {}
        self._residuals: Store = {}
        kinds = [claimed.kind for claimed in paid(forward.claim.properties, NUMBER)]
        is_kept = "robustness" in kinds and forward.size.norm is not None
        self._perturbed = self._end(forward.claim.edges) if is_kept else None

    def _end(self, edges: Edges) -> int:
        """Return the number of the logits of a circuit."""
        return self._forward.circuit(edges).numbers[logits_node(self._forward.size)]

    def _place(self, circuit: Circuit, prompt: Prompt) -> int:
        """Return the place where a prompt is decided."""
        return self._places.of(circuit, prompt)[self._forward.claim.task.decided(prompt)]

    def logits(self, edges: Edges, prompt: Prompt, biases: Biases = frozenset()) -> RowBall:
        """Return the logits of the candidates; `biases` are shared ones that nodes read in any case."""
        circuit = self._forward.circuit(edges, biases)
        name = circuit.numbers[logits_node(self._forward.size)], self._place(circuit, prompt)
        if name not in self._logits:
            self.prepare(edges, (prompt,), biases)
        return self._logits[name]

    def prepare(self, edges: Edges, prompts: Sequence[Prompt], biases: Biases = frozenset()) -> None:
        """Compute the logits of prompts together, as many at a time as memory allows."""
        size = self._forward.size
        circuit, end = self._forward.circuit(edges, biases), logits_node(size)
        number = circuit.numbers[end]
        wanted = [
            (prompt, {end: {self._forward.claim.task.decided(prompt)}})
            for prompt in paid(prompts, OBJECT)
            if (number, self._place(circuit, prompt)) not in self._logits
        ]
        for part in parts(circuit, wanted, size.width):
            if len(self._known) * size_of_row(size.width) > _KEPT:
                self._known = {}
            entries = [self._places.entry(circuit, one, self._known) for one in paid(part, NUMBER)]
            self._carried.carry(circuit, entries)
            run = EnclosedRun(self._parameters, circuit, entries, self._carried.substitute).compute(
                self._known
            )
            self._logits.update({(number, place): row for place, row in run.logits().items()})
            if number == self._perturbed:
                self._residuals.update({(number, place): row for place, row in run.residuals().items()})

    def residual(self, prompt: Prompt) -> RowBall:
        """Return what the logits of the claim's circuit read before their norm, where both are claimed."""
        edges = self._forward.claim.edges
        self.logits(edges, prompt)
        return self._residuals[self._end(edges), self._place(self._forward.circuit(edges), prompt)]

    def read_out(self, residual: RowBall) -> RowBall:
        """Return the logits of a final residual, through the last norm."""
        normed = self._parameters.normed("logits.norm", residual)
        return self._parameters.map("logits").apply([normed])[0]
