"""Numbers that are known between two bounds, and the brackets that claims state of them."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields, write_rational
from circuitproof.proof.enclosed import NOT_KNOWN, Ternary

_DIGITS = 10
"""To so many digits a number is found where nobody says how well it must be known."""
_PLACES = 20
"""Of a number that may be 0 no more than so many decimal places are found."""


@dataclass(frozen=True, slots=True)
class KnownRange:
    """A number that is no less than one bound and no more than another."""

    low: Fraction
    high: Fraction

    def outward(self) -> "ClaimedBracket":
        """Return a bracket of short decimals that holds it."""
        scale: int = 10 ** self._places()
        return ClaimedBracket(
            Fraction(floor(self.low * scale), scale), Fraction(ceil(self.high * scale), scale)
        )

    def words(self) -> str:
        return self.outward().words()

    def is_sharp(self) -> bool:
        """Say whether it is known to as many digits as such a bracket has."""
        return (self.high - self.low) * 10 ** self._places() <= 1

    def _places(self) -> int:
        size = max(abs(self.low), abs(self.high))
        magnitude = (Decimal(size.numerator) / Decimal(size.denominator)).adjusted() if size else -_PLACES
        return min(_PLACES, max(0, _DIGITS - 1 - magnitude))


@dataclass(frozen=True, slots=True)
class ClaimedBracket:
    """What a claim says of a number: that it is no less than one rational, no more than another, or both."""

    low: Fraction | None
    high: Fraction | None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise DeclarationError("a bracket has neither a lower nor an upper end; give one")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise DeclarationError(
                f"a bracket from {decimal_text(self.low)} to {decimal_text(self.high)} holds no number; "
                "give a lower end that is no more than the upper one"
            )

    def holds(self, known: KnownRange) -> Ternary:
        """Say whether a number is in the bracket, as far as that is known."""
        low, high = self.low, self.high
        if (high is not None and known.low > high) or (low is not None and known.high < low):
            return False
        is_met = (low is None or low <= known.low) and (high is None or known.high <= high)
        return True if is_met else NOT_KNOWN

    def to_json(self) -> Json:
        return [None if end is None else write_rational(end) for end in (self.low, self.high)]

    def words(self) -> str:
        if self.low is None:
            return f"at most {decimal_text(self.high or Fraction(0))}"
        if self.high is None:
            return f"at least {decimal_text(self.low)}"
        return f"from {decimal_text(self.low)} to {decimal_text(self.high)}"

    def formula(self, number: str) -> str:
        low = "" if self.low is None else f"{decimal_text(self.low)} ≤ "
        return f"{low}{number}" + ("" if self.high is None else f" ≤ {decimal_text(self.high)}")


def read_bracket(fields: Fields, key: str) -> ClaimedBracket | None:
    """Read a bracket as it stands in a claim, or that there is none."""
    if fields.value(key) is None:
        return None
    low, high = (None if end is None else Fraction(str(end)) for end in fields.items(key))
    return ClaimedBracket(low, high)


def decimal_text(value: Fraction) -> str:
    """Return a rational as a decimal where it is a short one.

    >>> decimal_text(Fraction(13, 100)), decimal_text(Fraction(1, 3))
    ('0.13', '1/3')
    """
    scaled = value * 10**_PLACES
    if scaled.denominator != 1:
        return write_rational(value)
    whole, places = divmod(abs(scaled.numerator), 10**_PLACES)
    digits = f"{whole}.{places:0{_PLACES}}".rstrip("0").rstrip(".")
    return f"-{digits}" if value < 0 else digits
