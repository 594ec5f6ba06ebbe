"""Looking at a bundle: one prompt explained, and the whole as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.api.arguments import PathLike, paced, place_of
from circuitproof.api.checking import AnyBundle, bundle_path
from circuitproof.api.declaring import AnyModel, model_at
from circuitproof.text.canonical import refuse_existing, write_file
from circuitproof.view.explain import Explanation
from circuitproof.view.explain import explain as explain_prompt
from circuitproof.view.reporting import report_on
from circuitproof.view.story import tell
from circuitproof.view.telling import framed
from circuitproof_check.main import Beside


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
) -> Explanation:
    """Tell what a circuit does on one prompt: its cell, what heads read, what edges bring, what flips it.

    The prompt is a text of tokens' names or numbers, a sequence of tokens, or its place in the bundle; with
    the bundle's `model` it may be plain text, which the model's tokenizer reads. After a norm, what flips it
    is searched for until the `deadline`.
    """
    reader = None
    match prompt:
        case str():
            spelled, reader = prompt, None if model is None else model_at(model).frozen.declaration
        case int():
            spelled = f"#{prompt}"
        case _:
            spelled = " ".join(map(str, prompt))
    return explain_prompt(tell(bundle_path(bundle)), spelled, paced(deadline, None), reader)


def report(
    path: AnyBundle,
    *,
    against: AnyModel | None = None,
    task: PathLike | None = None,
    out: PathLike | None = None,
) -> Page:
    """Return the page of a bundle or of a run folder, and write it to `out`, a new file, if that is given."""
    place = place_of(out)
    refuse_existing(place)
    compared = None if against is None else model_at(against).path
    made = report_on(bundle_path(path), Beside(compared, task=None if task is None else Path(task)))
    if place is not None:
        write_file(place, made.html.encode())
    return Page(made.html, made.text, made.says)
