"""Which norms a model has, and when each of them fades into an affine map."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

from circuitproof.errors import DeclarationError


class NormReader(StrEnum):
    """Who reads through a norm."""

    MLP = "mlp"
    ATTENTION = "attention"
    LOGITS = "logits"


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """Where a norm stands: before the MLP or the heads of a layer, or before the logits."""

    reader: NormReader
    layer: int = 0

    def __str__(self) -> str:
        """Return the name that the norm has in the layout of a model's file."""
        return "logits.norm" if self.reader is NormReader.LOGITS else f"{self.reader}.{self.layer}.norm"


@dataclass(frozen=True, slots=True)
class FadeSteps:
    """The steps in which a norm fades; before them its deviation is averaged."""

    first: int
    last: int
    """At this step the norm is gone: it is an affine map from here on."""

    def blend(self, step: int) -> float:
        """Return how far the norm has faded at a step, from 0 to 1.

        >>> [FadeSteps(2, 5).blend(step) for step in range(7)]
        [0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
        """
        return min(max(step - self.first + 1, 0) / (self.last - self.first + 1), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When norms begin to fade: one after another, kind by kind, within a kind from the first layer on.

    With an `interval` longer than `fade` and `window` together, one norm is gone before the deviation of the
    next is measured; with a shorter one they fade together, as the many norms of a deep model must.
    """

    order: tuple[NormReader, ...]
    begin: int
    """The step at which the first norm begins to fade."""
    fade: int
    """Steps that one norm takes."""
    interval: int
    """Steps from the beginning of one norm's fading to that of the next."""
    window: int
    """Steps that the running average of a deviation looks back over."""

    def __post_init__(self) -> None:
        if sorted(self.order) != sorted(NormReader):
            raise DeclarationError(
                f"order is {', '.join(self.order)}; want each of {', '.join(NormReader)} just once"
            )
        for name in ("begin", "fade", "interval", "window"):
            if getattr(self, name) < 1:
                raise DeclarationError(f"{name} is {getattr(self, name)}, want at least 1")

    def spans(self, layers: int) -> Mapping[Site, FadeSteps]:
        """Return the span of every norm of a model, in the order in which they begin."""
        sites = sorted(all_sites(layers), key=lambda site: self.order.index(site.reader))
        firsts = count(self.begin, self.interval)
        return {
            site: FadeSteps(first, first + self.fade - 1) for site, first in zip(sites, firsts, strict=False)
        }

    def refuse_too_short(self, layers: int, steps: int) -> None:
        """Refuse a run that ends before the last norm is gone."""
        last = max(span.last for span in self.spans(layers).values())
        if last >= steps:
            raise DeclarationError(
                f"the last norm is gone at step {last}, but there are only {steps} steps; "
                f"take at least {last + 1} steps or fade faster"
            )


def all_sites(layers: int) -> tuple[Site, ...]:
    """Return every norm of a model by depth, from the one that is nearest to the tokens."""
    readers = (NormReader.ATTENTION, NormReader.MLP)
    return (*(Site(reader, layer) for layer in range(layers) for reader in readers), Site(NormReader.LOGITS))
