from fractions import Fraction
from random import Random

import pytest

from circuitproof.arithmetic.forms import Region
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import EMBED, LOGITS, Head, Mlp
from circuitproof.errors import NotExactError
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import FINAL_RESIDUAL, Interface, Span
from circuitproof.proof.fold import fold
from circuitproof.proof.regions.disturbed import Question, disturb, disturb_residual
from hand_models import ADDED, ADDER, build, circuit_of, freeze
from models import NORMS, PROGRAMS, random_model, tiny_architecture
from twin import Twin, exact_tensors

PROMPT = (0, 3, 1)
PLACES = [
    FINAL_RESIDUAL,
    Interface(Mlp(0), Side.OUTPUT),
    Interface(Mlp(0), Side.INPUT, Span.ALL),
    Interface(Head(0, 1), Side.OUTPUT, (0, 2)),
    Interface(Head(1, 0), Side.INPUT, Span.ALL),
    Interface(EMBED, Side.OUTPUT, Span.ALL),
]


class Shaken(Twin):
    """The slow twin of the forward pass, with a perturbation added where an interface says."""

    def at(self, interface, etas):
        """Set what is added: a vector per position."""
        object.__setattr__(self, "interface", interface)
        object.__setattr__(self, "etas", etas)
        return self

    def output(self, node, circuit, outputs, prefix):
        """Return what a node outputs, perturbed."""
        plain = super().output(node, circuit, outputs, prefix)
        is_here = (node, Side.OUTPUT) == (self.interface.node, self.interface.side)
        added = self.etas.get(len(prefix) - 1) if is_here else None
        return plain if added is None else [a + b for a, b in zip(plain, added, strict=True)]

    def read(self, node, circuit, outputs, place):
        """Return what a node reads, perturbed before its norm."""
        is_here = (node, Side.INPUT) == (self.interface.node, self.interface.side)
        object.__setattr__(self, "added", self.etas.get(place) if is_here else None)
        if not self.architecture.has_norm and self.added is not None:
            plain = super().read(node, circuit, outputs, place)
            return [a + b for a, b in zip(plain, self.added, strict=True)]
        return super().read(node, circuit, outputs, place)

    def norm(self, name, vector):
        """Return a norm of what is perturbed."""
        if self.added is not None:
            vector = [a + b for a, b in zip(vector, self.added, strict=True)]
        return super().norm(name, vector)


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("norm", [NORMS[0], *NORMS[2:]], ids=lambda norm: type(norm).__name__)
def test_a_perturbation_anywhere_does_what_the_slow_twin_says(place, norm):
    """Every interface, with and without norms, at one position or several."""
    model = random_model(tiny_architecture(norm=norm), 4, PROGRAMS)
    frozen, circuit, draw = freeze(model), whole(freeze(model).graph), Random(0)  # noqa: S311  # not secrets
    function = disturb(frozen, (0, 1, 2), circuit, PROMPT, place)
    twin = Shaken(model.architecture, model.programs, exact_tensors(model.named_slices()))
    etas = {p: [Fraction(draw.randint(-9, 9), 7) for _ in range(4)] for p in function.positions}
    flat = [number for position in function.positions for number in etas[position]]
    found = function.fold(flat).logits
    assert found == twin.at(place, etas).logits(circuit, PROMPT, (0, 1, 2))
    if not model.architecture.has_norm:  # a norm may hide it
        assert found != function.fold([Fraction(0)] * function.variables).logits


def test_the_final_residual_is_one_of_the_interfaces():
    """The quick way, which shares what comes before, and the general way agree; equal residuals are one."""
    frozen = freeze(random_model(tiny_architecture(norm=NORMS[2]), 5, PROGRAMS))
    circuit, prompts = whole(frozen.graph), [PROMPT, (4, 4), PROMPT[:2]]
    quick = disturb_residual(frozen, (0, 1), circuit, prompts)
    eta = [Fraction(k, 5) for k in (1, -2, 0, 3)]
    for prompt, function in zip(prompts, quick, strict=True):
        slow = disturb(frozen, (0, 1), circuit, prompt, FINAL_RESIDUAL)
        assert function.fold(eta) == slow.fold(eta)
        assert function.scale() == slow.scale() > 0


def test_equal_residuals_are_one_function():
    """Prompts that a head maps to one vector are searched once."""
    frozen = freeze(build({**ADDER, "embed.position": [[0, 0]] * 3}))
    first, second = disturb_residual(frozen, (0, 1), circuit_of(ADDED), [(0,), (1, 0)])
    assert first is second


def test_forms_are_the_logits_on_a_region_where_branches_are_known():
    """At any point of a ball that is small enough."""
    frozen = freeze(random_model(tiny_architecture(), 6, PROGRAMS))
    circuit = whole(frozen.graph)
    function = disturb(frozen, (0, 1), circuit, PROMPT, Interface(Mlp(0), Side.INPUT))
    radius = Fraction(1, 10**6)
    (margin,) = Question(function, 0).margins(Region(radius), (Fraction(0),) * 4)
    scale = None
    for k in range(4):
        eta = [radius * (place == k) for place in range(4)]
        logits = function.fold(eta).logits
        ratio = margin.at(eta) / (logits[0] - logits[1])
        assert scale in (None, ratio)
        scale = ratio
    assert scale > 0


def test_the_head_where_a_product_is_not_linear_is_named():
    """Of the two heads that compute scores, the second meets the perturbation."""
    frozen = freeze(random_model(tiny_architecture(), 7))
    first = ["embed -> head 0.0", "embed -> head 1.1", "head 0.0 -> logits", "embed -> mlp 0"]
    edges = [*first, "mlp 0 -> head 1.1", "head 1.1 -> logits"]
    circuit = circuit_of(edges, layers=2, heads=2)
    function = disturb(frozen, (0, 1), circuit, PROMPT, Interface(Mlp(0), Side.OUTPUT))
    with pytest.raises(NotExactError, match=r"head 1\.1: a perturbed query meets a perturbed key"):
        Question(function, 0).margins(Region(Fraction(1, 100)), (Fraction(0),) * 4)


def test_positions_that_nothing_reads_have_no_coordinates():
    """A program that looks at the first token alone leaves the others out."""
    frozen = freeze(random_model(tiny_architecture(), 8, PROGRAMS))
    circuit = circuit_of(
        ["embed -> head 1.1", "embed -> mlp 0", "mlp 0 -> head 1.1", "head 1.1 -> logits"], layers=2, heads=2
    )
    function = disturb(frozen, (0, 1), circuit, PROMPT, Interface(Mlp(0), Side.OUTPUT, Span.ALL))
    assert function.positions == (2,)
    assert function.variables == 4
    assert function.fold([Fraction(0)] * 4) == fold(frozen, (0, 1), [circuit], [PROMPT]).of(circuit)[0]
    assert LOGITS in circuit.nodes()
