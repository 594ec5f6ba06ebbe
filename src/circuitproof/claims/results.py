"""What became of all claims of a file: one table, one sentence for each that is not as expected."""

from collections.abc import Iterator
from dataclasses import dataclass

from circuitproof.claims.checking import CheckedClaim, UnprovedClaim
from circuitproof.claims.forms import Format
from circuitproof.claims.page import page_of
from circuitproof.claims.tables import claims_table, could_run_decide, written
from circuitproof.errors import ExitCode
from circuitproof.files.canonical import Json

_SEVERITY = (ExitCode.FAILURE, ExitCode.INVALID, ExitCode.REFUTED, ExitCode.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a file, as the independent checker judged them."""

    name: str
    claims: tuple[CheckedClaim | UnprovedClaim, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Return what all come to: a failure first, then invalid, a changed verdict, one not known."""
        codes = {one.exit_code for one in self.claims}
        return next((code for code in _SEVERITY if code in codes), ExitCode.GOOD)

    @property
    def is_expected(self) -> bool:
        """Say whether every bundle holds and every verdict is as expected."""
        return self.exit_code is ExitCode.GOOD

    def sentences(self) -> Iterator[str]:
        """Say what is not as it should be, claim by claim."""
        return (said for one in self.claims if (said := one.sentence()) is not None)

    def uncompared(self) -> Iterator[str]:
        """Say which bundles were not compared with the models that they are about."""
        checked = [one for one in self.claims if isinstance(one, CheckedClaim)]
        for what in dict.fromkeys(one.uncompared for one in checked if one.uncompared):
            names = ", ".join(repr(str(one.claim.name)) for one in checked if one.uncompared == what)
            yield f"not compared with the {what}: {names}; the verdicts are about the weights in the bundles"

    def summary(self) -> Iterator[str]:
        """Say what is not as it should be or that all is, and what was not compared."""
        yield from self.sentences()
        if self.is_expected:
            yield "every verdict is as expected"
        yield from self.runs()
        yield from self.uncompared()

    def runs(self) -> Iterator[str]:
        """Say of each claim whose file asks for it whether a run in floats could decide it."""
        for one in self.claims:
            if isinstance(one, CheckedClaim) and (said := could_run_decide(one.record)):
                yield f"claim {one.claim.name!r}: could a run decide it? {said}"

    def table(self, form: Format) -> str:
        """Return the table as the text of a document."""
        return written(claims_table(self.name, self.claims), form)

    def page(self) -> str:
        """Return one HTML page for all, which loads nothing."""
        return page_of(self.name, tuple(self.summary()), self.claims)

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "exit": int(self.exit_code),
            "claims": [one.to_json() for one in self.claims],
        }
