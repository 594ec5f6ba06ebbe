"""Looking at a bundle, one prompt or the whole as a page, and at the logits of a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof.api.arguments import PathLike, listed, paced, path_of, place_of, typed
from circuitproof.api.checking import AnyBundle, bundle_path
from circuitproof.api.declaring import AnyCircuit, AnyModel, circuit_at, model_at
from circuitproof.api.showing import show_as
from circuitproof.files.canonical import refuse_existing, write_file
from circuitproof.proof.effort import Effort
from circuitproof.reports.bundle_view import tell
from circuitproof.reports.explain import Explanation
from circuitproof.reports.explain import explain as explain_prompt
from circuitproof.reports.reporting import look_at
from circuitproof.reports.results import explanation_said, logits_said
from circuitproof.reports.said import framed
from circuitproof.verbs.logits import Logits, Spelled, find_logits
from circuitproof_check.main import Beside

show_as(Logits, logits_said)
show_as(Explanation, explanation_said)
_PROMPTS = "a text, a list of tokens, or a list of such prompts"


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page: one HTML file that loads nothing, and the same as text of 80 columns."""

    html: str
    text: str
    says: str
    """What the checker said, in a word, when the page was made; of a run, how many bundles it judged."""

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        return framed(self.html, height=640)


def explain(
    bundle: AnyBundle,
    prompt: str | int | Sequence[int],
    *,
    model: AnyModel | None = None,
    deadline: float | None = 10.0,
    operations: int | None = None,
) -> Explanation:
    """Tell what a circuit does on one prompt: its cell, what heads read, what edges bring, what flips it.

    The prompt is a text of tokens' names or numbers, a sequence of tokens, or its place in the bundle; with
    the bundle's `model`, which a detached bundle needs, it may be plain text, which the model's tokenizer
    reads. After a norm, what flips it is searched for until the `deadline`. `operations` is how much work the
    checker may do first.
    """
    reader, compared = None, None if model is None else model_at(model).path
    match prompt:
        case str():
            spelled, reader = prompt, None if model is None else model_at(model).frozen.declaration
        case int():
            spelled = f"#{prompt}"
        case _:
            spelled = " ".join(map(str, listed("prompt", prompt, "a text, a place or a list of tokens")))
    return explain_prompt(
        tell(bundle_path(bundle), Beside(compared, operations=operations)),
        spelled,
        paced(deadline, None),
        reader,
    )


def logits(  # noqa: PLR0913  # what is asked, of what, where and how precisely
    model: AnyModel,
    prompts: str | Sequence[int] | Sequence[str | Sequence[Spelled]],
    circuit: AnyCircuit | None = None,
    candidates: Sequence[Spelled] | None = None,
    *,
    position: int = -1,
    precision: int = 512,
) -> Logits:
    """Give the logits of some tokens, or of all, after the last token of each prompt, or at a `position`.

    A text, or a list of numbers, is one prompt; a list of texts or of lists is several. The model's tokenizer
    reads the text; where there is none, a text is names or numbers of tokens between blanks. A candidate is a
    number, a name, or a text of one token. The result has `values`, which are Fractions, `floats()`, the
    nearest doubles, and `to_frame()`.
    Where softmax, GELU or LayerNorm are used, logits are enclosed with at most `precision` bits: `values` are
    midpoints, no further than `radii` from the logits, one radius for each prompt.

        found = cp.logits(model, ["<BOS> ' A", [1, 10, 6]], candidates=["'", '"'])
        found.floats()[0]
    """
    asked = (
        None if candidates is None else listed("candidates", candidates, "a list of tokens such as [9, 10]")
    )
    place, tried = typed("position", position, int, "a whole number"), Effort(precision=precision)
    frozen, chosen = model_at(model).frozen, circuit_at(circuit)
    return find_logits(frozen, _several(prompts), chosen, asked, tried, position=place)


def _several(
    prompts: str | Sequence[int] | Sequence[str | Sequence[Spelled]],
) -> Sequence[str | Sequence[Spelled]]:
    """Return several prompts, or the only one as a list."""
    if isinstance(prompts, str):
        return [prompts]
    given = listed("prompts", prompts, _PROMPTS)
    if given and all(isinstance(one, int) for one in given):
        return [given]
    return [one if isinstance(one, str) else listed("a prompt", one, _PROMPTS) for one in given]


def report(
    path: AnyBundle,
    *,
    against: AnyModel | None = None,
    task: PathLike | None = None,
    operations: int | None = None,
    out: PathLike | None = None,
) -> Page:
    """Return the page of a bundle or of a run folder, and write it to `out`, a new file, if that is given.

    `operations` is how much work the checker may do, as for `check`.
    """
    place = place_of(out)
    refuse_existing(place)
    compared = None if against is None else model_at(against).path
    beside = Beside(compared, task=None if task is None else path_of("task", task), operations=operations)
    shown = look_at(bundle_path(path), beside)
    html = shown.page()
    if place is not None:
        write_file(place, html.encode())
    return Page(html, shown.text(), shown.says)
