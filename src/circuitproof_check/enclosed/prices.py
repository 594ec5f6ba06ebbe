"""What numbers with a radius cost: half of what the same count of exact ones does.

They are integers with no denominator to bring to lowest terms, and many are computed by one call; about
thirty million of the usual operations take a second here, where exact arithmetic does ten to fifteen.
"""

from circuitproof_check import work


def spend(operations: int) -> None:
    """Pay for operations on midpoints and radii, before they are done."""
    work.spend((operations + 1) // 2)


def spend_numbers(count: int, bits: int) -> None:
    """Pay for so many midpoints of so many bits, which are then computed and kept."""
    spend(count * (work.NUMBER + bits // 50))
