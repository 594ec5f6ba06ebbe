"""The commands of README.md run as they stand."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from places import RECIPES, ROOT

README = (ROOT / "README.md").read_text()
OWN = README[README.index("## Prove something of your own") :]


def commands() -> Iterator[list[str]]:
    """Return the words of each command of the first block below the heading."""
    block = re.search(r"(?:^    .*\n)+", OWN, re.MULTILINE)
    for line in block[0].splitlines():
        program, *words = shlex.split(line, comments=True)
        run = [sys.executable] if program == "python" else [sys.executable, "-m", program]
        yield [*run, *words]


@pytest.mark.slow
def test_the_first_commands_of_a_user_run_as_they_stand(tmp_path):
    """From training to a page; training rounds by the machine, so an answer may be no, but it is one."""
    (tmp_path / "recipes").symlink_to(RECIPES)
    asked = list(commands())
    assert len(asked) >= 8
    for command in asked:
        ended = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)  # noqa: S603  # ours
        assert ended.returncode in (0, 1), (command, ended.stdout, ended.stderr)
    assert list(tmp_path.glob("**/*.html"))
