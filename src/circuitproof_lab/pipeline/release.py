"""Releasing a finished study: claims, proofs, models, tasks and records in one folder.

Whoever has the folder checks every claim beside its model, its base and its task, and sees from the records
how each came to be. Made again from the same run, it has the same bytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.bundle.opening import OpenedBundle, open_bundle
from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.places import BUNDLE
from circuitproof.claims.places import RECORD as PROVED
from circuitproof.claims.results import Claims
from circuitproof.errors import InputError
from circuitproof.files.canonical import (
    digest_bytes,
    digest_file,
    readable_json,
    refuse_existing,
    write_directory,
    write_file,
)
from circuitproof.files.codec import to_json
from circuitproof.files.reading import read_bytes
from circuitproof.files.records import read_record
from circuitproof.files.run import MARK, Mark
from circuitproof.files.sealed import MANIFEST, check_seal, read_manifest
from circuitproof.models.declaration import DECLARATION, WEIGHTS, Declaration, read_declaration
from circuitproof.proof.effort import UNHURRIED
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.release_claims import ReleasedClaim, ReleasedModel, claims_text
from circuitproof_lab.pipeline.stages.train import CORPUS as TOKENS
from circuitproof_lab.records.environment import ENVIRONMENT, Environment
from circuitproof_lab.records.norms import REMOVAL, Attenuation
from circuitproof_lab.records.release import RELEASE, ReleaseManifest
from circuitproof_lab.records.study import STUDY, EndedStudy, EndedTask, KeptProof
from circuitproof_lab.train.tokenised import CORPUS, Corpus

BASE = "base"
_RECORDS = (".json", ".jsonl")
_TAKEN = (BASE, "models", "circuits", "tasks", "records")
"""Names in a release that no task may have."""
_MEGA = 1_000_000


@dataclass(frozen=True, slots=True)
class _Finished:
    """A finished study that is to be released."""

    run: Path
    mark: Mark
    end: EndedStudy
    environment: Environment
    base: Path
    declaration: Declaration
    """What the base says of itself: its tokens are those of all tasks."""

    @property
    def tasks(self) -> tuple[EndedTask, ...]:
        """Return the tasks that have an artifact."""
        return tuple(one for one in self.end.tasks if one.model is not None)


def release_study(run: Path, out: Path, base: Path | None = None, megabytes: int = 20) -> ReleaseManifest:
    """Write all that a finished study proved, and what it rests on, into the new folder `out`.

    The `base` is given where the study was given it. Before the folder appears, the checker has judged every
    bundle in it beside its model, its base and its task.
    """
    refuse_existing(out)
    study = _finished(run, base)
    files = dict(sorted(_files(study)))
    size = sum(len(content) for name, content in files.items() if name.startswith("models/"))
    if size > megabytes * _MEGA:
        raise InputError(
            f"the models of {run} have {size / _MEGA:.1f} MB together, want at most {megabytes}; "
            "allow more by --megabytes"
        )
    release = _release(study, files)
    files[RELEASE] = readable_json(to_json(release))
    write_directory(out, partial(_fill, files))
    return release


def _fill(files: Mapping[str, bytes], folder: Path) -> None:
    """Write every file, what seals a folder after all else in it, and let the checker judge the whole."""
    for name in sorted(files, key=lambda name: (Path(name).name == MANIFEST, name)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, files[name])
    stated = load_claims(folder / "claims.toml")
    found = Claims(stated.name, check_claims(stated, stated.proofs, hear=UNHURRIED.hear))
    if wrong := [*found.sentences(), *found.uncompared()]:
        raise InputError(f"the release does not hold: {wrong[0]}")


def _finished(run: Path, base: Path | None) -> _Finished:
    """Refuse a run that is no finished study, or another base than the one that was studied."""
    if not (run / MARK).is_file():
        raise InputError(f"{run} is no run: it has no {MARK}; give the folder of a circuitproof run")
    mark = read_record(run / MARK, Mark)
    if not (run / STUDY).is_file():
        raise InputError(
            f"{run} is not finished, it has no {STUDY}; let circuitproof run go on with "
            f"recipe {mark.recipe!r}"
        )
    end = read_record(run / STUDY, EndedStudy)
    if end.base is None and base is None:
        raise InputError(f"{run} studied a base that it was given; give its model directory by --base")
    if end.base is not None and base is not None:
        raise InputError(f"{run} made its own base, {run / end.base}; leave out --base")
    place = base or run / str(end.base)
    if (found := digest_file(place / MANIFEST)) != end.base_manifest:
        raise InputError(
            f"{place / MANIFEST} has SHA-256 {found}, the base of {run} has {end.base_manifest}; give that"
        )
    if not any(one.model for one in end.tasks):
        stopped = next((one.stopped for one in end.tasks), None)
        raise InputError(f"{run} has proved nothing to release: {stopped}; see its report")
    if taken := [one.task for one in end.tasks if one.task in _TAKEN]:
        raise InputError(f"{run} has a task {taken[0]!r}, which a release calls something else; rename it")
    kept = read_record(run / ENVIRONMENT, Environment)
    return _Finished(run, mark, end, kept, place, read_declaration(place))


def _files(study: _Finished) -> Iterator[tuple[str, bytes]]:
    """Return every file of a release but its manifest, by its name there."""
    yield "claims.toml", claims_text(study.mark.recipe, _models(study), _claims(study)).encode()
    yield from _model_files(study.base, f"models/{BASE}")
    for task in study.tasks:
        yield from _model_files(study.run / str(task.model), f"models/{task.task}")
        for kept in task.proofs:
            yield from _proof_files(study, kept)
    yield CORPUS, read_bytes(study.run / TOKENS / CORPUS)
    yield from ((f"records/{name}", content) for name, content in _records(study.run))


def _model_files(model: Path, at: str) -> Iterator[tuple[str, bytes]]:
    check_seal(model, frozenset({DECLARATION, WEIGHTS}))
    for name in (*read_manifest(model), MANIFEST):
        yield f"{at}/{name}", read_bytes(model / name)


def _proof_files(study: _Finished, kept: KeptProof) -> Iterator[tuple[str, bytes]]:
    opened, files = _opened(study, kept)
    yield f"circuits/{kept.claim}.json", readable_json(opened.circuit.to_json())
    yield f"tasks/{kept.claim}.json", readable_json(_declared(study, opened).to_json())
    yield f"{kept.claim}/{PROVED}", readable_json(to_json(kept.proof))
    for name, content in files.items():
        yield f"{kept.claim}/{BUNDLE}/{name}", content


def _opened(study: _Finished, kept: KeptProof) -> tuple[OpenedBundle, Mapping[str, bytes]]:
    bundle = study.run / kept.bundle
    check_seal(bundle, frozenset({CLAIM}))
    files = {name: read_bytes(bundle / name) for name in (*read_manifest(bundle), MANIFEST)}
    return open_bundle(bundle, files), files


def _declared(study: _Finished, opened: OpenedBundle) -> Task:
    """Return the declaration of a bundle's task, whose digest must be the one that the bundle states."""
    asked, tokens = opened.task, study.declaration.architecture.vocabulary
    names = tuple(asked.names.items())
    task = Task(
        name=asked.name,
        alphabet=study.declaration.tokens if opened.pattern is None else Vocabulary(tokens, names),
        candidates=asked.candidates,
        answer=asked.answer,
        relation=asked.relation,
        domain=opened.domain if opened.pattern is None else opened.pattern,
    )
    if str(task.digest) != asked.declaration:
        raise InputError(f"{opened.path} is about another declaration of task {task.name!r}; prove it anew")
    return task


def _records(run: Path) -> Iterator[tuple[str, bytes]]:
    """Return what the stages wrote down; what is sealed is a model, a bundle or the tokens of a corpus."""
    for file in sorted(run.rglob("*")):
        name = file.relative_to(run)
        folders = [run / parent for parent in name.parents]
        is_sealed = any((folder / MANIFEST).exists() for folder in folders)
        if file.suffix in _RECORDS and not file.name.startswith(".") and not is_sealed:
            yield name.as_posix(), read_bytes(file)


def _models(study: _Finished) -> tuple[ReleasedModel, ...]:
    places = {BASE: study.base, **{one.task: study.run / str(one.model) for one in study.tasks}}
    return tuple(ReleasedModel(name, digest_file(place / WEIGHTS)) for name, place in places.items())


def _claims(study: _Finished) -> tuple[ReleasedClaim, ...]:
    return tuple(
        ReleasedClaim(
            name=kept.claim,
            model=one.task,
            base=BASE if kept.has_base else None,
            answers=_opened(study, kept)[0].answers,
            operations=kept.operations,
        )
        for one in study.tasks
        for kept in one.proofs
    )


def _release(study: _Finished, files: Mapping[str, bytes]) -> ReleaseManifest:
    corpus = read_record(study.run / TOKENS / CORPUS, Corpus)
    return ReleaseManifest(
        recipe=study.mark.recipe,
        recipe_digest=study.mark.recipe_digest,
        commands=tuple(_commands(study)),
        environment=study.environment,
        corpus_python=corpus.python,
        tokenizer=corpus.tokenizer,
        rungs={one.task: str(one.rung) for one in study.tasks},
        stopped={one.task: one.stopped for one in study.end.tasks if one.stopped is not None},
        files={name: digest_bytes(content) for name, content in files.items()},
    )


def _commands(study: _Finished) -> Iterator[str]:
    """Return the commands that make the same again, from the recipes that are shipped."""
    run, given = f"build/{study.mark.recipe}", ""
    if study.end.base is None:
        made = f"build/{BASE}"
        if (study.base / REMOVAL).is_file():
            recipe = read_record(study.base / REMOVAL, Attenuation).recipe
            made = f"build/{recipe}"
            yield f"circuitproof remove-norm recipes/{recipe}.toml --out {made}"
        given = f" --base {made}/model"
    yield f"circuitproof run recipes/{study.mark.recipe}.toml --out {run}{given}"
    yield f"circuitproof release {run} --out evidence/{study.mark.recipe}{given}"
