"""circuitproof turns an explanation of a transformer circuit into a claim that can be proved or refuted.

    import circuitproof as cp

    model = cp.load_model("build/run/model")
    circuit = cp.extract(model, "quotes").circuit
    answers = cp.verify(model, "quotes", circuit, epsilon="1/1000", out="build/bundle")
    cp.check(answers, against=model)

Nothing is imported before it is asked for, and nothing is printed. docs/api.md has every name.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from circuitproof.version import __version__

if TYPE_CHECKING:
    from circuitproof.api.checking import Checked, Outcome, check
    from circuitproof.api.claiming import claims_over_checkpoints, prove_claims
    from circuitproof.api.declaring import (
        Model,
        circuit,
        counterfactual,
        declare_task,
        load_circuit,
        load_model,
        load_task,
        mean,
        write_model,
    )
    from circuitproof.api.finding import (
        extract,
        from_transformer_lens,
        import_hf,
        import_mingpt,
        import_release,
        import_tl,
        import_tracr,
    )
    from circuitproof.api.looking import Page, explain, logits, report
    from circuitproof.api.proving import minimal, radius, verify
    from circuitproof.circuits.circuit import Circuit
    from circuitproof.claims.checkpoints import ClaimsOverCheckpoints
    from circuitproof.claims.results import Claims
    from circuitproof.errors import (
        CircuitproofError,
        DeclarationError,
        InputError,
        InvalidError,
        NotExactError,
        NumericError,
        OutputError,
        OverdueError,
    )
    from circuitproof.proof.effort import Effort
    from circuitproof.proof.verdict import Verdict
    from circuitproof.reports.explain import Explanation
    from circuitproof.tasks.task import Task
    from circuitproof.verbs.logits import Logits
    from circuitproof.verbs.minimality import Minimality
    from circuitproof.verbs.radii import Radii
    from circuitproof.verbs.verification import Verification

__all__ = [
    "Checked",
    "Circuit",
    "CircuitproofError",
    "Claims",
    "ClaimsOverCheckpoints",
    "DeclarationError",
    "Effort",
    "Explanation",
    "InputError",
    "InvalidError",
    "Logits",
    "Minimality",
    "Model",
    "NotExactError",
    "NumericError",
    "Outcome",
    "OutputError",
    "OverdueError",
    "Page",
    "Radii",
    "Task",
    "Verdict",
    "Verification",
    "__version__",
    "check",
    "circuit",
    "claims_over_checkpoints",
    "counterfactual",
    "declare_task",
    "explain",
    "extract",
    "from_transformer_lens",
    "import_hf",
    "import_mingpt",
    "import_release",
    "import_tl",
    "import_tracr",
    "load_circuit",
    "load_model",
    "load_task",
    "logits",
    "mean",
    "minimal",
    "prove_claims",
    "radius",
    "report",
    "verify",
    "write_model",
]

_HOMES = {
    "api.checking": ("Checked", "Outcome", "check"),
    "api.claiming": ("claims_over_checkpoints", "prove_claims"),
    "api.declaring": (
        "Model",
        "circuit",
        "counterfactual",
        "declare_task",
        "load_circuit",
        "load_model",
        "load_task",
        "mean",
        "write_model",
    ),
    "api.finding": (
        "extract",
        "from_transformer_lens",
        "import_hf",
        "import_mingpt",
        "import_release",
        "import_tl",
        "import_tracr",
    ),
    "api.looking": ("Page", "explain", "logits", "report"),
    "api.proving": ("minimal", "radius", "verify"),
    "claims.checkpoints": ("ClaimsOverCheckpoints",),
    "claims.results": ("Claims",),
    "circuits.circuit": ("Circuit",),
    "tasks.task": ("Task",),
    "errors": tuple(name for name in __all__ if name.endswith("Error")),
    "verbs.logits": ("Logits",),
    "verbs.minimality": ("Minimality",),
    "verbs.radii": ("Radii",),
    "verbs.verification": ("Verification",),
    "proof.effort": ("Effort",),
    "proof.verdict": ("Verdict",),
    "reports.explain": ("Explanation",),
}
"""The module of each name; a type checker reads the imports above, which a test compares."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import the module of a name when the name is asked for."""
        home = next((home for home, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module 'circuitproof' has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"circuitproof.{home}"), name)
        return found

    def __dir__() -> list[str]:
        """Return the names, whether they were asked for or not."""
        return sorted({*globals(), *__all__})
