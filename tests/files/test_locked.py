import fcntl
import os
import signal
import subprocess
import sys

import pytest

from circuitproof.errors import InputError
from circuitproof.files.locked import claimed, locked

HOLDER = """
import sys, time
from pathlib import Path
from circuitproof.files.locked import claimed
with claimed(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Return a process that holds the place of an output."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "deep" / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # ours
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_an_output_that_another_command_makes_is_refused_until_that_is_killed(holder, tmp_path):
    """What a kill leaves behind is in nobody's way, and is taken away by whoever comes next."""
    out = tmp_path / "deep" / "out"
    with pytest.raises(InputError, match="out is being written by another command"), claimed(out):
        pass
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with claimed(out):
        assert [path.name for path in tmp_path.iterdir()] == [".deep.out.lock"]
    assert not list(tmp_path.iterdir())


def test_a_place_is_free_again_after_a_failure(tmp_path):
    """Neither an error nor an end leaves anything behind."""
    with pytest.raises(ZeroDivisionError), claimed(tmp_path / "out"):
        raise ZeroDivisionError
    with claimed(tmp_path / "out"):
        pass
    assert not list(tmp_path.iterdir())


def test_no_output_needs_no_place():
    """A command that writes nothing is never in the way."""
    with claimed(None), claimed(None):
        pass


def test_a_held_lock_is_refused_with_the_sentence_given(tmp_path):
    """Without one it would be waited for."""
    with (
        locked(tmp_path / "lock"),
        pytest.raises(InputError, match=r"^not now$"),
        locked(tmp_path / "lock", "not now"),
    ):
        pass


def test_a_lock_that_was_taken_away_while_it_was_opened_holds_nothing(tmp_path, monkeypatch):
    """Its holder has just ended, and a third process may hold the new file of the same name."""
    lock = tmp_path / "lock"
    flock = fcntl.flock

    def flock_too_late(file, how):
        lock.unlink()
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", flock_too_late)
    with pytest.raises(InputError, match=r"^not now$"), locked(lock, "not now"):
        pass
