"""Mutants of the prover: with one guard after another off or around, is a falsehood ever accepted?

`python tests/mutant_hunt.py --out build/mutants` hunts with every mutant on asks that reach its line, `--part
I/N` with each N-th; killed and started again it goes on. The last lines are counts; accepted falsehoods make
the exit code 1.
"""

import argparse
import hashlib
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import zip_longest
from os import getpid
from pathlib import Path
from typing import Any

from bundle_twin import falsehoods
from mutants import ROOT, Mutant, all_mutants, applied_mutants, files, is_swappable, placed
from random_claims import ORDINARY, Ask, ProverAnswer, is_of_pattern, known_ask, told

SECONDS = 2.0
"""How much time of the processor a prover or checker may take; a mutant may go on for ever."""
PEELED = 6
"""How many guards, one after the other, are turned off when an ask is refused."""
CORPUS = (*range(720), *(seed for seed in range(ORDINARY, ORDINARY + 360) if not is_of_pattern(seed)))
EACH = 16
"""On how many asks each mutant is tried."""
ACCEPTED = ("valid", "refuted")


class SlowError(BaseException):
    """Time is up; not an `Exception`, so that nobody else handles it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer than so many seconds of the processor."""

    def stop(*_: object) -> None:
        raise SlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judged(bundle: Path, against: Path | None = None, base: Path | None = None) -> tuple[str, str]:
    """Return the checker's word and sentence; a refutation that holds is `refuted`."""
    from circuitproof_check.main import check

    try:
        with limited(3 * SECONDS):
            outcome, sentence = check(bundle, against, base)
    except SlowError:
        return "slow", "the checker took too long"
    except Exception as error:  # noqa: BLE001  # a checker that stops has not accepted
        return "crash", repr(error)
    word = outcome.name.lower()
    is_refutation = word == "invalid" and sentence.startswith("the refutation of")
    return ("refuted" if is_refutation else word), sentence


@dataclass(frozen=True)
class Finding:
    """A falsehood: who told it, about which ask, what is false, and what the checker said."""

    mutants: tuple[str, ...]
    seed: int
    falsehood: str
    word: str
    sentence: str

    def __str__(self) -> str:
        told_by = " + ".join(self.mutants) or "the honest prover"
        return f"{told_by} on seed {self.seed}: {self.falsehood} ({self.word}: {self.sentence})"


@dataclass
class Report:
    """What a hunt counted, and the falsehoods that were accepted."""

    counts: Counter[str] = field(default_factory=Counter)
    accepted: list[Finding] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Add what another hunt found."""
        self.counts += other.counts
        self.accepted += other.accepted

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"counts": self.counts, "accepted": [asdict(one) for one in self.accepted]}

    def table(self) -> str:
        """Return the counts as lines."""
        return "\n".join(f"{count:8} {name}" for name, count in sorted(self.counts.items()))


def report_of(content: dict[str, Any]) -> Report:
    """Read a report back."""
    accepted = [Finding(**{**one, "mutants": tuple(one["mutants"])}) for one in content["accepted"]]
    return Report(Counter(content["counts"]), accepted)


@cache
def guards() -> dict[tuple[str, int], Mutant]:
    """Return the mutant that leaves out the `raise` of a line."""
    return {(m.file, m.line): m for m in all_mutants() if m.kind == "raise-pass"}


def guard_of(error: BaseException | None) -> Mutant | None:
    """Return the mutant without the guard that an error comes from, if one of ours raised it."""
    while error is not None and error.__cause__ is not None:
        error = error.__cause__
    trace, found = None if error is None else error.__traceback__, None
    while trace is not None:
        found, trace = (trace.tb_frame.f_code.co_filename, trace.tb_lineno), trace.tb_next
    if found is None or not found[0].startswith(str(ROOT)):
        return None
    file = found[0].removeprefix(f"{ROOT}/")
    spans = [m for (name, line), m in guards().items() if name == file and line <= found[1] <= line + 6]
    return max(spans, key=lambda m: m.line, default=None)


def tell(asked: Ask, directory: Path, mutants: Sequence[Mutant] = ()) -> ProverAnswer:
    """Let a mutant answer an ask, within limits."""
    try:
        with applied_mutants(*mutants), limited(SECONDS):
            return told(asked, directory)
    except SlowError as error:
        return ProverAnswer(None, directory / "model", None, error)


def insist(
    asked: Ask, directory: Path, mutants: Sequence[Mutant] = (), peeled: int = PEELED
) -> tuple[ProverAnswer, tuple[Mutant, ...]]:
    """Let a mutant answer; when a guard refuses, turn that off too and ask again."""
    chosen = tuple(mutants)
    found = tell(asked, directory, chosen)
    for _ in range(peeled):
        guard = guard_of(found.refusal)
        if found.bundle is not None or guard is None or guard in chosen:
            break
        chosen = (*chosen, guard)
        found = tell(asked, directory, chosen)
    return found, chosen


def print_of(bundle: Path) -> str:
    """Return a digest of the content of a bundle."""
    content = [path.read_bytes() for path in sorted(bundle.iterdir())]
    return hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in content)).hexdigest()


def run(asked: Ask, mutants: Sequence[Mutant], peeled: int = PEELED) -> Report:
    """Let a mutant answer one ask; judge the bundle, and ask the oracle about it."""
    report = Report(Counter({"runs": 1}))
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        found, chosen = insist(asked, Path(folder), mutants, peeled)
        if found.bundle is None:
            kind = "too slow" if isinstance(found.refusal, SlowError) else "refused or failed"
            report.counts[kind] += 1
            return report
        report.counts["bundles"] += 1
        if print_of(found.bundle) == honest_print(asked.seed):
            report.counts["bundles as the honest prover's"] += 1
            return report
        report.add(weigh(asked, chosen, found))
    return report


def weigh(asked: Ask, chosen: Sequence[Mutant], found: ProverAnswer) -> Report:
    """Compare what the checker says of a bundle with what the oracle says."""
    report = Report()
    has_base = any(prop["kind"] == "lesion identity" for prop in asked.properties)
    word, sentence = judged(found.bundle, found.model, found.base if has_base else None)
    lies = oracle(found, has_base=has_base)
    report.counts[f"checker: {word}"] += 1
    if lies:
        report.counts["falsehoods told"] += 1
        report.counts["falsehoods accepted" if word in ACCEPTED else "falsehoods caught"] += 1
        if word in ACCEPTED:
            report.counts[f"accepted though {lies[-1].split(':')[0]}"] += 1
            names = tuple(mutant.name for mutant in chosen)
            report.accepted.append(Finding(names, asked.seed, "; ".join(lies), word, sentence))
    return report


def oracle(found: ProverAnswer, *, has_base: bool) -> list[str]:
    """Return what is false in a bundle; one that cannot even be read this way is false too."""
    try:
        with limited(10 * SECONDS):
            return falsehoods(found.bundle, found.model, found.base if has_base else None)
    except SlowError:
        return []
    except Exception as error:  # noqa: BLE001  # whatever is not as the format says
        return [f"malformed: {error!r}"]


@cache
def scratch() -> str | None:
    """Return a place for files that are soon gone, in memory where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # the directory has a name of its own


@cache
def honest_print(seed: int) -> str | None:
    """Return the digest of what the honest prover writes."""
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        found = tell(known_ask(seed), Path(folder))
        return None if found.bundle is None else print_of(found.bundle)


Lines = frozenset[tuple[str, int]]


def reached_lines(asked: Ask) -> Lines:
    """Return the lines in which mutants are made that the honest prover runs for an ask."""
    names = {str(ROOT / file): file for file in files()}
    found: set[tuple[str, int]] = set()

    def local(frame: Any, event: str, _: object) -> Callable[..., Any]:
        if event == "line":
            found.add((names[frame.f_code.co_filename], frame.f_lineno))
        return local

    before = sys.gettrace()
    with tempfile.TemporaryDirectory(dir=scratch()) as folder, applied_mutants():
        sys.settrace(lambda frame, *_: local if frame.f_code.co_filename in names else None)
        try:
            told(asked, Path(folder))
        finally:
            sys.settrace(before)
    return frozenset(found)


@cache
def coverage(seeds: Sequence[int] = CORPUS) -> dict[int, Lines]:
    """Return which lines each ask of a corpus reaches, remembered beside the build."""
    sources = "".join((ROOT / file).read_text() for file in files())
    sources += "".join((Path(__file__).parent / name).read_text() for name in OWN) + repr(seeds)
    file = ROOT.parents[1] / "build" / "mutants" / f"{hashlib.sha256(sources.encode()).hexdigest()[:16]}.json"
    if not file.exists():
        found = {seed: sorted(reached_lines(known_ask(seed))) for seed in seeds}
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_suffix(f".{getpid()}")
        written.write_text(json.dumps(found))
        written.replace(file)
    stored = json.loads(file.read_text())
    return {int(seed): frozenset((name, line) for name, line in lines) for seed, lines in stored.items()}


OWN = ("random_claims.py", "real_oracle.py", "bundle_twin.py", "bundle_maker.py", "widened.py")
"""What the asks depend on beside the product."""


def asks_for(mutant: Mutant, seeds: Sequence[int] = CORPUS, each: int = EACH) -> list[int]:
    """Return a few asks that reach a mutant: where its guard fires first, of different themes first."""
    table = coverage(seeds)
    firing = [seed for seed in seeds if (mutant.file, mutant.fires) in table[seed]]
    passing = [seed for seed in seeds if (mutant.file, mutant.line) in table[seed] and seed not in firing]
    half = (each + 1) // 2
    mixed = [*varied(firing)[:half], *varied(passing)[:half], *varied(firing)[half:], *varied(passing)[half:]]
    return mixed[:each]


def is_on_the_way(mutant: Mutant, seeds: Sequence[int] = CORPUS) -> bool:
    """Say whether any bundle comes to be by way of a mutant's file."""
    return any(mutant.file == file for lines in coverage(seeds).values() for file, _ in lines)


def varied(seeds: Iterable[int]) -> list[int]:
    """Return seeds so that themes take turns."""
    themes: dict[str, list[int]] = {}
    for seed in seeds:
        themes.setdefault(known_ask(seed).theme, []).append(seed)
    turns = zip_longest(*sorted(themes.values(), key=lambda found: (-len(found), found[0])))
    return [seed for turn in turns for seed in turn if seed is not None]


def hunt(
    mutants: Iterable[Mutant],
    seeds: Iterable[int] | None = None,
    *,
    corpus: Sequence[int] = CORPUS,
    each: int = EACH,
) -> Report:
    """Let each mutant answer the asks of some seeds, or a few of a corpus that reach it."""
    report = Report()
    given = None if seeds is None else list(seeds)
    for mutant in mutants:
        if not is_swappable(mutant):
            report.counts["mutants that cannot be applied"] += 1
            continue
        chosen = asks_for(mutant, corpus, each) if given is None else given
        report.counts["mutants"] += 1
        if not chosen:
            report.counts[
                f"mutants {'' if is_on_the_way(mutant, corpus) else 'in files '}that no ask reaches"
            ] += 1
        for seed in chosen:
            report.add(run(known_ask(seed), (mutant,)))
    return report


def insisting(seeds: Iterable[int]) -> Report:
    """Let the prover answer asks, with just those guards turned off that refuse; without any, honestly."""
    report = Report()
    for seed in seeds:
        asked = known_ask(seed)
        with tempfile.TemporaryDirectory(dir=scratch()) as folder:
            found, chosen = insist(asked, Path(folder))
            report.counts["asks"] += 1
            report.counts[f"asks after {len(chosen)} guards"] += found.bundle is not None
            if found.bundle is not None:
                report.add(weigh(asked, chosen, found))
    return report


def named(pattern: str) -> list[Mutant]:
    """Return the mutants whose name holds a text."""
    return [mutant for mutant in all_mutants() if pattern in mutant.name]


@dataclass(frozen=True)
class Hole:
    """A hole that a checker had: mutants and seeds that find it, and a word of their falsehood."""

    mutants: tuple[tuple[str, str, str], ...]
    """File, function and kind of each; without any, the prover is honest but for the guards that refuse."""
    seeds: tuple[int, ...]
    word: str

    def search(self) -> list[Finding]:
        """Return the accepted falsehoods of this kind."""
        mutants = [mutant for place in self.mutants for mutant in placed(*place)]
        report = hunt(mutants, self.seeds) if mutants else insisting(self.seeds)
        return [found for found in report.accepted if self.word in found.falsehood]


HOLES = {
    "robustness before a norm, over a pattern": Hole(
        (("proof/properties/robustness.py", "robust_goal", "if-false"),),
        (458, 594, 917, 1308),
        "false: robustness",
    ),
    "tokens in order, judged by one of the rest": Hole(
        (("programs/atoms.py", "Condition.__post_init__", "raise-pass"),), (113, 249, 929), "false: "
    ),
    "a base of another architecture": Hole((), (7, 483, 534, 551), "false: lesion identity"),
    "openers outside the vocabulary": Hole((), (199, 320, 522, 643), "forbidden: an opener"),
    "prompts of a pattern without just one opener": Hole((), (593, 743, 862), "just one opener"),
    "answers that are no candidates": Hole((), (1573, 2389, 6339), "no candidate"),
    "programs outside the grammar": Hole((), (106, 262, 343), "forbidden: 'key_"),
}
"""Holes that were there once. A later test may take the mending out of a checker and see them found again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt with all mutants, or a part of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", default="1/1", help="I/N: every N-th mutant from the I-th")
    parser.add_argument("--each", type=int, default=EACH, help="on how many asks each mutant is tried")
    parser.add_argument("--out", type=Path, default=Path("build/mutants"))
    options = parser.parse_args(arguments)
    first, count = map(int, options.part.split("/"))
    options.out.mkdir(parents=True, exist_ok=True)
    progress = options.out / f"progress-{first}-of-{count}.jsonl"
    total = hunted(all_mutants()[first - 1 :: count], progress, options.each)
    print(total.table())  # noqa: T201  # a command prints
    for one in total.accepted:
        print(f"ACCEPTED {one}")  # noqa: T201  # the same
    return 1 if total.accepted else 0


def hunted(mutants: Sequence[Mutant], progress: Path, each: int = EACH) -> Report:
    """Hunt with each mutant, and first without any, unless the progress file says it was done."""
    lines = progress.read_text().splitlines() if progress.exists() else []
    done = {entry["mutant"]: report_of(entry) for entry in map(json.loads, lines)}
    work: dict[str, Callable[[], Report]] = {"insisting": lambda: insisting(CORPUS)}
    work |= {mutant.name: (lambda mutant=mutant: hunt([mutant], each=each)) for mutant in mutants}
    total = Report()
    with progress.open("a") as file:
        for name, hunting in work.items():
            if name not in done:
                done[name] = hunting()
                file.write(json.dumps({"mutant": name, **done[name].to_json()}) + "\n")
                file.flush()
            total.add(done[name])
    return total


if __name__ == "__main__":
    sys.exit(main())
