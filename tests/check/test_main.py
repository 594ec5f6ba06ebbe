import hashlib
import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import circuitproof_check
from circuitproof.errors import ExitCode, InputError
from circuitproof.files.sealed import check_seal, write_sealed
from circuitproof_check.main import Outcome, check, main

FILES = {"model.json": b"{}", "notes": b"text"}


@pytest.fixture
def sealed(tmp_path) -> Path:
    """Return a sealed directory that carries no claim."""
    write_sealed(tmp_path / "sealed", FILES)
    return tmp_path / "sealed"


def relist(folder: Path, content: object) -> None:
    """Replace the manifest."""
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "manifest.json").write_text(text)


def test_matching_files_without_a_claim_are_incomplete_and_never_valid(sealed):
    """A model directory is in order, but it proves nothing."""
    assert check(sealed) == (
        Outcome.INCOMPLETE,
        f"2 files are as the manifest says, but {sealed} carries no claim",
    )


def test_the_exit_codes_are_those_of_every_command():
    """The checker shares no code with the rest, so the numbers are compared here."""
    assert {outcome.value for outcome in Outcome} == {code.value for code in ExitCode}
    assert (Outcome.VALID, Outcome.REFUTED, Outcome.FAILURE, Outcome.INCOMPLETE, Outcome.INVALID) == (
        ExitCode.GOOD,
        ExitCode.REFUTED,
        ExitCode.FAILURE,
        ExitCode.UNDECIDED,
        ExitCode.INVALID,
    )


def _change(folder: Path) -> None:
    (folder / "notes").write_bytes(b"Text")


def _truncate(folder: Path) -> None:
    (folder / "notes").write_bytes(b"")


def _remove(folder: Path) -> None:
    (folder / "notes").unlink()


def _replace_by_folder(folder: Path) -> None:
    _remove(folder)
    (folder / "notes").mkdir()


def _list_digest(digest: str):
    return lambda folder: relist(folder, {"files": {"notes": digest}})


def _list_name(name: str):
    return lambda folder: relist(folder, {"files": {name: hashlib.sha256(b"text").hexdigest()}})


FORGERIES = {
    "changed": (_change, 'files have their digests: found "notes"'),
    "truncated": (_truncate, 'files have their digests: found "notes"'),
    "removed": (_remove, 'listed files are here: found "notes"'),
    "other digest": (_list_digest("0" * 64), 'files have their digests: found "notes"'),
    "upper-case digest": (
        _list_digest(hashlib.sha256(b"text").hexdigest().upper()),
        'files have their digests: found "notes"',
    ),
    "above": (_list_name("../notes"), 'listed files are here: found "../notes"'),
    "absolute": (_list_name("/etc/passwd"), 'listed files are here: found "/etc/passwd"'),
    "below": (_list_name("deep/notes"), 'listed files are here: found "deep/notes"'),
    "itself": (_list_name("."), 'listed files are here: found "."'),
    "parent": (_list_name(".."), 'listed files are here: found ".."'),
    "no name": (_list_name(""), 'listed files are here: found ""'),
    "half a character": (_list_name("\ud800"), r'listed files are here: found "\ud800"'),
    "nul": (_list_name("notes\0"), r'listed files are here: found "notes\u0000"'),
}


@pytest.mark.parametrize(("forge", "reason"), FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forgery_is_invalid(sealed, forge, reason):
    """Each breaks one rule and nothing else; the library's own reader refuses it too."""
    forge(sealed)
    outcome, found = check(sealed)
    assert outcome is Outcome.INVALID
    assert reason in found
    with pytest.raises(InputError):
        check_seal(sealed, frozenset())


def test_a_manifest_that_lists_nothing_is_invalid(sealed):
    """Nothing to check is not nothing wrong."""
    relist(sealed, {"files": {}})
    outcome, reason = check(sealed)
    assert outcome is Outcome.INVALID
    assert "manifests list files" in reason


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"files": []}',
        '{"files": null}',
        '{"files": {"notes": 3}}',
        '{"files": {"notes": "a", "notes": "b"}}',
        '{"files": {}, "more": 1}',
        "[" * 100_000,
        "1" * 10_000,
    ],
    ids=lambda content: content[:40],
)
def test_a_malformed_manifest_is_a_failure(sealed, content):
    """There is nothing to judge; what is too deep or too long is not even read."""
    relist(sealed, content)
    assert check(sealed)[0] is (Outcome.INCOMPLETE if len(content) > 1000 else Outcome.FAILURE)


def test_a_name_too_long_for_the_disk_is_not_accepted(sealed):
    """The operating system complains before the checker can."""
    _list_name("n" * 5000)(sealed)
    assert check(sealed)[0] in {Outcome.FAILURE, Outcome.INVALID}


@pytest.mark.parametrize("kind", ["nowhere", "file", "empty folder"])
def test_what_is_not_a_sealed_directory_is_a_failure(tmp_path, kind):
    """The sentence names the manifest that was looked for."""
    path = tmp_path / "bundle"
    if kind == "file":
        path.touch()
    elif kind == "empty folder":
        path.mkdir()
    outcome, reason = check(path)
    assert outcome is Outcome.FAILURE
    assert "manifest.json" in reason


@pytest.mark.parametrize(
    ("prepare", "code", "word"),
    [
        (lambda _: None, 4, "incomplete: "),
        (_change, 5, "invalid: "),
        (lambda folder: relist(folder, "{"), 3, "failure: "),
    ],
)
def test_the_command_prints_one_line_and_exits_with_the_outcome(sealed, capsys, prepare, code, word):
    """The word for people, the code for scripts."""
    prepare(sealed)
    with pytest.raises(SystemExit) as end:
        main([str(sealed)])
    out = capsys.readouterr().out
    assert end.value.code == code
    assert out.startswith(word)
    assert out.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["one", "two"], ["--fast", "one"]])
def test_a_wrong_command_line_has_exit_code_2(capsys, arguments):
    """As every shell user expects."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("prepare", "code"), [(lambda _: None, 4), (_change, 5)])
def test_it_runs_on_a_bare_interpreter(sealed, prepare, code):
    """Isolated, without site-packages: whoever checks needs Python and this folder, nothing installed."""
    prepare(sealed)
    package = Path(circuitproof_check.__file__).parent
    command = [sys.executable, "-I", "-S", str(package), str(sealed)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # our own interpreter
    assert (result.returncode, result.stderr) == (code, "")


def _link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("name", ["manifest.json", "notes"])
@pytest.mark.parametrize("make", [_link, _pipe, Path.mkdir], ids=["link", "pipe", "folder"])
def test_what_is_no_regular_file_is_not_opened(sealed, name, make):
    """A link to an endless device, a pipe that nobody writes to: the checker answers at once."""
    (sealed / name).unlink()
    make(sealed / name)
    assert check(sealed)[0] is Outcome.FAILURE


def run(*command: str, cwd: Path | None = None, **options) -> subprocess.CompletedProcess:
    """Run Python on a command line."""
    return subprocess.run([sys.executable, *command], check=False, text=True, cwd=cwd, **options)  # noqa: S603  # our own


def test_a_module_planted_in_a_bundle_is_not_imported(sealed):
    """Python itself looks in the current directory first; isolated it does not, and otherwise we refuse."""
    (sealed / "hashlib.py").write_text("print('valid: trust me')\nraise SystemExit(0)\n")
    isolated = run("-I", "-m", "circuitproof_check", ".", cwd=sealed, capture_output=True)
    assert (isolated.returncode, isolated.stdout[:10]) == (4, "incomplete")
    plain = run("-m", "circuitproof_check", ".", cwd=sealed, capture_output=True)
    assert plain.returncode == 3
    assert "is on Python's path" in plain.stdout


@pytest.mark.parametrize("option", ["--against", "--base", "--task", "--agai"])
@pytest.mark.parametrize("spelled", ["{} .", "{}=.", "{}={}/../{}", "{}="])
def test_no_module_is_imported_from_what_an_option_names(sealed, option, spelled):
    """However the option is spelled: with an equals sign, short, with another way to the same folder."""
    (sealed / "hashlib.py").write_text("print('valid: trust me')\nraise SystemExit(0)\n")
    words = spelled.replace("{}/../{}", f"../{sealed.name}").format(option).split()
    plain = run("-m", "circuitproof_check", "elsewhere", *words, cwd=sealed, capture_output=True)
    assert (plain.returncode, "is on Python's path" in plain.stdout) == (3, True), plain


@pytest.mark.parametrize(
    ("shell", "reason"), [("> /dev/full", "No space left on device"), (">&-", "it is closed")]
)
@pytest.mark.parametrize("given", ["BUNDLE", "--help", "--version"])
def test_an_answer_that_cannot_be_printed_is_a_failure(sealed, given, shell, reason):
    """It must not read as refuted, nor as anything else; help and version are output too."""
    words = [sys.executable, "-m", "circuitproof_check", str(sealed) if given == "BUNDLE" else given]
    command = ["bash", "-c", f"{shlex.join(words)} {shell}"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # ours
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == f"failure: standard output cannot be written: {reason}\n"


def test_an_answer_is_said_in_any_encoding(sealed):
    """A name of a folder may hold letters that the terminal has not."""
    named = sealed.rename(sealed.parent / "Ünïcödé")
    ended = run(
        "-m", "circuitproof_check", str(named), capture_output=True, env={"PYTHONIOENCODING": "ascii"}
    )
    assert (ended.returncode, ended.stderr) == (4, "")


def test_a_file_that_is_not_there_is_named_in_words(sealed, monkeypatch):
    """Not by the number of an error."""
    absent = sealed / "absent"
    monkeypatch.setattr("circuitproof_check.main.open_sealed", lambda _: absent.read_bytes())
    outcome, reason = check(sealed)
    assert outcome is Outcome.FAILURE
    assert reason == f"{sealed} cannot be judged: cannot read {absent}: No such file or directory"


def test_a_fault_of_the_checker_is_no_verdict(sealed, monkeypatch):
    """An exception that nobody foresaw would exit with 1, which means refuted."""
    monkeypatch.setattr("circuitproof_check.main.open_sealed", lambda _: [].pop())
    assert check(sealed)[0] is Outcome.FAILURE


def test_json_says_what_the_line_says(sealed, capsys):
    """For programs."""
    with pytest.raises(SystemExit) as end:
        main([str(sealed), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (end.value.code, found["outcome"], found["exit"]) == (4, "incomplete", 4)
    assert "carries no claim" in found["reason"]


def test_the_version_is_that_of_the_package(capsys):
    """One number, said in two places that share no code."""
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"circuitproof-check {version('circuitproof')}, format 3\n"
