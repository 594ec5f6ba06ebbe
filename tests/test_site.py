"""The documentation site: every page has its place, links lead somewhere, and nothing is fetched."""

import os
import re
import subprocess
import sys

import pytest

from places import DOCS, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, into another folder."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(out)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, env=quiet, check=True, capture_output=True)  # noqa: S603  # our own command
    return out


@pytest.mark.slow
def test_every_page_is_built_and_has_its_place(site):
    """A page that no reader can come to is an error, and so are links and anchors that lead nowhere."""
    order = (ROOT / "mkdocs.yml").read_text()
    for page in DOCS.glob("*.md"):
        assert (site / page.with_suffix(".html").name).exists()
        assert re.search(rf"\b{re.escape(page.name)}$", order, re.MULTILINE), page.name


@pytest.mark.slow
def test_the_reference_holds_every_public_name(site):
    """It is made from the package, so it cannot say something else."""
    import circuitproof

    said = (site / "reference.html").read_text()
    assert circuitproof.__version__ in said
    for name in getattr(circuitproof, "__all__", ()):
        assert f'id="{name.lower().strip("_")}' in said


@pytest.mark.slow
def test_pages_fetch_nothing_from_elsewhere(site):
    """The site can be read without a network, and tells nobody that it is."""
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)|<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="(https?:[^"]+)',
            page.read_text(),
        )
        assert not fetched, page.name
