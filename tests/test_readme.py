"""The README is short, and what it shows is what happens."""

import re

from circuitproof.reports.bundle_view import BundleView, tell
from circuitproof.reports.numbers import Numbers
from places import ROOT

TEXT = (ROOT / "README.md").read_text()
WIDEST, LONGEST = 110, 96


def test_the_readme_fits_a_screen_or_three():
    """A reader who has to scroll sideways is lost."""
    lines = TEXT.splitlines()
    assert max(map(len, lines)) <= WIDEST
    assert len(lines) <= LONGEST


def test_the_python_of_the_readme_prints_what_stands_below_it(tmp_path, monkeypatch, capsys):
    """Five lines to a checked proof."""
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", TEXT, re.DOTALL).groups()
    (tmp_path / "src").symlink_to(ROOT / "src")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102  # our own text
    assert capsys.readouterr().out == shown


def test_every_page_that_the_readme_names_is_there():
    """Links lead somewhere in a clone."""
    named = re.findall(r"[(\"]((?:docs/)?[\w./-]+\.(?:md|png|cff))", TEXT)
    assert len(named) > 15
    assert not [link for link in named if not (ROOT / link).exists()]


def test_the_language_models_prompts_are_told_with_their_cells():
    """A large count of prompts is told with how many computations stand behind it."""
    view = tell(ROOT / "evidence" / "code-lm" / "quotes" / "bundle")
    assert isinstance(view, BundleView)
    assert isinstance(view.numbers, Numbers)
    told = f"| {len(view.bundle.domain.prompts):,} | {len(view.numbers.cells)} |"
    assert told in TEXT
