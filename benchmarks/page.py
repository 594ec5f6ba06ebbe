"""How soon a page of 340 edges and 1,280 prompts answers: measured in the page, by its own clock.

An interaction has ended when the browser has laid the page out again and is ready to paint.
"""

import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from browsers import Browser, launched, missing
from circuitproof.reports.bundle_view import BundleView, tell
from circuitproof.reports.page import bundle_page
from circuitproof_check.main import Beside
from large_claims import large_bundle
from timing import print_table, timed

EDGES, PROMPTS, REPEATS, WANTED = 340, 1280, 9, 100
MEASURE = """
const [at, done] = arguments, begin = performance.now();
%s;
document.body.getBoundingClientRect();
const ended = performance.now();
requestAnimationFrame(() => setTimeout(() => done([ended - begin, performance.now() - begin]), 0));
"""
POINT = "dispatchEvent(new PointerEvent('pointerenter'))"
INTERACTIONS = {
    "search": """
const box = document.querySelector('[data-at=search]');
box.value = ['a', 'ab', '[', '#7'][at % 4];
box.dispatchEvent(new Event('input'))""",
    "sort prompts by margin": "document.querySelector('.prompts th:nth-child(4) button').click()",
    "sort edges by what they bring": "document.querySelector('table.edges th:nth-child(4) button').click()",
    "show 200 more prompts": "document.querySelector('[data-at=more]').click()",
    "choose a prompt": "document.querySelectorAll('.prompts [data-prompt]')[at].click()",
    "point at an edge": f"document.querySelectorAll('g.edge')[at].{POINT}",
    "point at a node": f"document.querySelectorAll('g.node')[at].{POINT}",
    "choose an edge": "document.querySelectorAll('table.edges [data-edge]')[at].click()",
    "let it go": """
document.querySelector('#circuit').dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))""",
    "change the theme": "document.querySelector('[data-at=theme]').click()",
    "(ten million additions, to compare)": "let sum = 0; for (let k = 0; k < 1e7; k += 1) sum += k % 7",
}


def main() -> None:
    """Print the table."""
    if reason := missing():
        print(f"pages are not measured: {reason}")
        return
    with TemporaryDirectory() as folder:
        bundle, proving = timed(lambda: large_bundle(Path(folder) / "bundle", edges=EDGES, prompts=PROMPTS))
        view, telling = timed(lambda: tell(bundle, Beside(operations=10**10)))
        if not isinstance(view, BundleView):
            sys.exit(f"the bundle is not judged: {view.judgement.reason}")
        html, writing = timed(lambda: bundle_page(view))
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        with launched() as browser:
            browser.open(page)
            rows = [(name, *_measured(browser, act)) for name, act in INTERACTIONS.items()]
    took = f"proved in {proving:.1f} s, checked and computed in {telling:.1f} s, written in {writing:.1f} s"
    print_table(
        f"a page of {EDGES} edges and {PROMPTS} prompts, {len(html):,} signs ({took})",
        ("interaction", "median ms", "worst ms", "painted, median ms", f"under {WANTED} ms"),
        rows,
    )


def _measured(browser: Browser, act: str) -> tuple[str, str, str, str]:
    """Return median and worst time until the page is laid out again, and the median until it is painted."""
    found = [browser.driver.execute_async_script(MEASURE % act, at) for at in range(REPEATS)]
    laid = [one[0] for one in found]
    median, painted = statistics.median(laid), statistics.median(one[1] for one in found)
    return f"{median:.1f}", f"{max(laid):.1f}", f"{painted:.1f}", "yes" if median < WANTED else "NO"


if __name__ == "__main__":
    main()
