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

from circuitproof.version import __version__ as __version__

if TYPE_CHECKING:
    from circuitproof.api.checking import Checked as Checked
    from circuitproof.api.checking import Outcome as Outcome
    from circuitproof.api.checking import check as check
    from circuitproof.api.declaring import Model as Model
    from circuitproof.api.declaring import circuit as circuit
    from circuitproof.api.declaring import declare_task as declare_task
    from circuitproof.api.declaring import load_circuit as load_circuit
    from circuitproof.api.declaring import load_model as load_model
    from circuitproof.api.declaring import load_task as load_task
    from circuitproof.api.finding import extract as extract
    from circuitproof.api.finding import import_hf as import_hf
    from circuitproof.api.finding import import_release as import_release
    from circuitproof.api.finding import train as train
    from circuitproof.api.looking import Page as Page
    from circuitproof.api.looking import explain as explain
    from circuitproof.api.looking import report as report
    from circuitproof.api.proving import minimal as minimal
    from circuitproof.api.proving import radius as radius
    from circuitproof.api.proving import verify as verify
    from circuitproof.declare.circuits.circuit import Circuit as Circuit
    from circuitproof.declare.tasks.task import Task as Task
    from circuitproof.errors import CircuitproofError as CircuitproofError
    from circuitproof.errors import DeclarationError as DeclarationError
    from circuitproof.errors import InputError as InputError
    from circuitproof.errors import InvalidError as InvalidError
    from circuitproof.errors import NotExactError as NotExactError
    from circuitproof.errors import NumericError as NumericError
    from circuitproof.errors import OutputError as OutputError
    from circuitproof.errors import OverdueError as OverdueError
    from circuitproof.lab.runs.minimality import Minimality as Minimality
    from circuitproof.lab.runs.radii import Radii as Radii
    from circuitproof.lab.runs.verification import Verification as Verification
    from circuitproof.prove.effort import Effort as Effort
    from circuitproof.prove.verdict import Verdict as Verdict
    from circuitproof.view.explain import Explanation as Explanation

_HOMES = {
    "api.checking": ("Checked", "Outcome", "check"),
    "api.declaring": ("Model", "circuit", "declare_task", "load_circuit", "load_model", "load_task"),
    "api.finding": ("extract", "import_hf", "import_release", "train"),
    "api.looking": ("Page", "explain", "report"),
    "api.proving": ("minimal", "radius", "verify"),
    "declare.circuits.circuit": ("Circuit",),
    "declare.tasks.task": ("Task",),
    "errors": (
        "CircuitproofError",
        "DeclarationError",
        "InputError",
        "InvalidError",
        "NotExactError",
        "NumericError",
        "OutputError",
        "OverdueError",
    ),
    "lab.runs.minimality": ("Minimality",),
    "lab.runs.radii": ("Radii",),
    "lab.runs.verification": ("Verification",),
    "prove.effort": ("Effort",),
    "prove.verdict": ("Verdict",),
    "view.explain": ("Explanation",),
}
"""The module of each name; a type checker reads the imports above, which a test compares."""

if not TYPE_CHECKING:
    __all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names)])  # noqa: PLE0605  # a list

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
