"""The options that several commands share, each spelled once."""

from math import isnan
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Argument, BadParameter, Option

from circuitproof.files.devices import DeviceChoice
from circuitproof.files.replacing import Continued, Sealed
from circuitproof.proof.effort import Method
from circuitproof.proof.properties.kinds import Kind
from circuitproof.tasks.candidates import AskedCandidates

TaskSpecs = TypeVar("TaskSpecs", str, list[str])


def _refuse_nan(seconds: float | None) -> float | None:
    """Refuse what is no number of seconds, which no range excludes."""
    if seconds is not None and isnan(seconds):
        raise BadParameter("nan is no number of seconds")
    return seconds


def known_tasks(asked: TaskSpecs) -> TaskSpecs:
    """Refuse the name of a task that there is none of, before anything is opened."""
    from circuitproof.tasks.loading import refuse_unknown_task

    for spec in [asked] if isinstance(asked, str) else asked or []:
        refuse_unknown_task(spec)
    return asked


def drawing_of(what: str) -> Any:  # noqa: ANN401  # as Option itself
    """Return the option of a command that can draw what it found."""
    return Option("--figure", help=f"Draw the {what} into this .png or .svg.")


Against = Annotated[Path | None, Option("--against", help="The model directory that it must be about.")]
Operations = Annotated[
    int | None, Option("--operations", min=1, help="How much work checking may be, as in the checker.")
]
PrecisionOption = Annotated[
    int,
    Option(
        "--precision",
        min=16,
        max=4096,
        help="The most bits that logits are enclosed with, where softmax, GELU or LayerNorm are used.",
    ),
]
JobsOption = Annotated[
    int, Option("--jobs", min=1, help="How many processes of this machine the work is divided among.")
]
ClusterOption = Annotated[
    str | None,
    Option("--cluster", help="Divide it among a Ray cluster, whose head has this address, HOST:PORT."),
]
AsJson = Annotated[bool, Option("--json", help="Print the result as JSON, for programs.")]
ModelPath = Annotated[Path, Argument(metavar="MODEL", help="A model directory.")]
_OUT = Option("--out", help="Where the result is written.")
Out = Annotated[Path, _OUT]
ModelOut = Annotated[Path, _OUT, Sealed("model directory", "model.json")]
Force = Annotated[
    bool,
    Option(
        "--force",
        help="Replace what is there by what is written now: a file, or a whole folder of the same kind; "
        "never a run's folder.",
    ),
]
RecipeFile = Annotated[Path, Argument(metavar="RECIPE", help="A recipe file.")]
RunFolderOption = Annotated[
    Path | None, Option("--out", help="The run's folder. [default: build/NAME]"), Continued()
]


def run_folder(out: Path | None, name: str) -> Path:
    """Return the folder of a recipe's run: the one that is given, or one of its name."""
    return out or Path("build") / name


_TASK = "A task by name, or its file (.toml or .json)"
Tasks = Annotated[list[str], Option("--task", help=f"{_TASK}; repeat for several.", callback=known_tasks)]
CircuitFiles = Annotated[
    list[Path] | None,
    Option(
        "--circuit",
        help="A circuit file in our spelling, the release's, EAP-IG's or ACDC's; repeat for several. "
        "[default: all edges, the most harmful single deletion, none]",
    ),
]
DeviceOption = Annotated[
    DeviceChoice,
    Option(
        "--device",
        help="Where torch computes; auto is cuda, else mps, else cpu. Only cpu gives the same bits anywhere.",
    ),
]
At = Annotated[
    str,
    Option(
        "--at",
        help="Where to perturb: a node's input or output such as 'mlp 0 output', or a TransformerLens hook.",
    ),
]
Perturbed = Annotated[
    str, Option("--positions", help="Which positions to perturb: last, all, or such as 0,3.")
]
BudgetOption = Annotated[int, Option("--budget", min=1, help="The most parts of a prompt's ball to look at.")]
MethodOption = Annotated[
    Method, Option("--method", help="How robustness is decided after a norm or inside the circuit.")
]
MeasureFloats = Annotated[
    bool, Option("--measure-floats", help="Run the circuit in torch as well and compare.")
]
ModelOption = Annotated[Path, Option("--model", help="A model directory.")]
TaskName = Annotated[str, Option("--task", help=f"{_TASK}.", show_default=False, callback=known_tasks)]
CircuitFile = Annotated[
    Path | None, Option("--circuit", help="A circuit file. [default: the whole model, all edges]")
]
AgreesWith = Annotated[
    Path | None, Option("--agrees-with", help="The file of another circuit, for agreement.")
]
Ablated = Annotated[
    str | None,
    Option(
        "--ablation",
        help="What cut edges carry: zero, mean (over the task's prompts, by position), mean-all, or a .json "
        "file. [default: what the circuit file says]",
    ),
]
Properties = Annotated[
    list[Kind] | None,
    Option(
        "--property",
        help="What to claim; repeat for several. [default: what --bound is of, or equivalence, invariance, "
        "necessity; with --epsilon robustness, and with --agrees-with agreement]",
    ),
]
BoundTexts = Annotated[
    list[str] | None,
    Option(
        "--bound",
        help="What to claim of a count or a measure: 'accuracy >= 4046', 'loss <= 0.13', 'mean difference >= "
        "2.5', 'least difference >= 0', 'recovered >= 0.9'; repeat for several. [default: what is found]",
    ),
]
CandidatesOption = Annotated[
    AskedCandidates | None,
    Option("--candidates", help="With 'all', every token may be the answer. [default: the task's]"),
]
PositionOption = Annotated[
    int | None,
    Option("--position", help="Decide at this position: 0 the first, -1 the last. [default: the task's]"),
]
Epsilon = Annotated[str | None, Option("--epsilon", help="The size of perturbations, such as 1/100.")]
PatternText = Annotated[
    str | None,
    Option(
        "--pattern",
        help="The prompts meant, in place of the task file's own: 'any{1..8} with exactly 1 of [9, 10]'.",
    ),
]
LimitsOption = Annotated[
    bool,
    Option("--limits", help="Where a claim about a pattern fails, look for the largest part that is proved."),
]
Regions = Annotated[int, Option("--regions", min=1, help="The most regions of a pattern, for each property.")]
ExpsOption = Annotated[
    int, Option("--exps", min=0, help="The most exponentials that softmax heads over a pattern may take.")
]
ListedOption = Annotated[
    int, Option("--listed", min=0, help="The most prompts of a region to compute one by one.")
]
Deadline = Annotated[
    float | None,
    Option(
        "--deadline",
        min=0.001,
        max=1e9,
        help="End after so many seconds with what is known by then; the rest is undecided.",
        callback=_refuse_nan,
        show_default=False,
    ),
]
DetachedOption = Annotated[
    bool,
    Option(
        "--detached",
        help="Leave the weights out of the bundle: whoever checks it gives the model with --against.",
    ),
]
BundleOut = Annotated[
    Path | None, Option("--out", help="Write the bundle here."), Sealed("bundle", "claim.json")
]
