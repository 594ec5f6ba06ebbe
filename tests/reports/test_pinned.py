"""What a page shows of a circuit and its heads in a browser, and what its address keeps."""

from fractions import Fraction

import pytest

import viewed
from circuitproof.files.reading import shown
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.page import bundle_page
from circuitproof.reports.parts.prompts import closest
from circuitproof.reports.trace import trace
from circuitproof_check.main import Beside
from circuitproof_lab.pages.reporting import look_at as look_at_run
from run_folders import write_run

PROVED = Fraction(1, 100)
NEURAL = 37
"""A claim about two neural heads."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of a bundle with a program head, of one with neural heads, and of a run."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "program": bundle_page(viewed.quotes_view(PROVED)),
        "neural": bundle_page(viewed.view_of(NEURAL)),
        "run": look_at_run(write_run(folder / "run"), Beside()).page(),
    }
    for name, page in made.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def opened(browser, page, fragment=""):
    """Open a page at a fragment, from anew."""
    browser.driver.get("about:blank")
    browser.driver.get(page.resolve().as_uri() + fragment)


def expect_fragment(browser, wanted):
    """Wait until the address has a fragment: the page adds to it after the browser has followed a link."""
    assert browser.awaited("return location.hash", lambda found: found == wanted) == wanted


def test_every_edge_is_an_arrow_with_its_share_of_the_chosen_margin(browser, pages):
    """Where it leads and what it brings is seen without pointing at it; another prompt has other numbers."""
    view = viewed.view_of(NEURAL)
    assert isinstance(view.numbers, Numbers)
    opened(browser, pages["neural"])
    edges = list(view.bundle.circuit)
    for place in closest(view)[:2]:
        opened(browser, pages["neural"], f"#prompt={place}")
        flow = view.numbers.cells[view.numbers.cell_of[place]].flow
        assert flow is not None
        said = [float(one) for one in browser.texts(".sideways .brings")]
        wanted = [float(shown(flow.edges.get(edge, Fraction(0)))) for edge in edges]
        assert all(abs(one - other) <= abs(other) / 100 for one, other in zip(said, wanted, strict=True))
    assert len(browser.all(".sideways g.edge .head")) == len(edges)
    ends = browser.run(
        "return [...document.querySelectorAll('.sideways g.edge')].map((edge) => {"
        "const head = edge.querySelector('.head').getBBox();"
        "const name = CSS.escape(edge.dataset.target);"
        "const box = document.querySelector(`.sideways [data-node=${name}] rect`).getBBox();"
        "return Math.abs(head.x + head.width - box.x); })"
    )
    assert max(ends) < 0.1


def test_the_drawing_is_as_wide_as_the_page_and_upright_on_a_phone(browser, pages):
    """On a desk nothing is left empty beside it; on a phone names are not made smaller to fit."""
    opened(browser, pages["program"])
    sizes = "const of = (s) => document.querySelector(s).getBoundingClientRect().width;"
    drawn, section = browser.run(f"{sizes} return [of('#circuit .sideways'), of('#circuit')]")
    assert drawn > 0.9 * section
    browser.resize(400)
    assert not browser.one("#circuit .sideways").is_displayed()
    assert browser.one("#circuit .upwards").is_displayed()
    scale = browser.run(f"{sizes} return of('#circuit .upwards rect') / 84")
    assert scale > 0.9
    browser.resize(1280)


def test_the_address_keeps_prompt_and_node_and_brings_them_back(browser, pages):
    """A link that is sent shows what its sender saw."""
    opened(browser, pages["program"])
    expect_fragment(browser, "")
    browser.click(".prompts tbody tr:nth-child(4) a")
    place = int(browser.run("return document.querySelectorAll('.prompts [data-prompt]')[3].dataset.prompt"))
    expect_fragment(browser, f"#explanation&prompt={place}")
    browser.click(".sideways [data-node='head 0.0']")
    browser.click("nav a[href='#verdicts']")
    expect_fragment(browser, f"#verdicts&prompt={place}&node=head+0.0")
    opened(browser, pages["program"], f"#circuit&prompt={place}&node=head+0.0")
    assert browser.texts("#explanation h2") == [f"One prompt: #{place}"]
    assert browser.run("return document.querySelector('.sideways .pinned').dataset.node") == "head 0.0"
    assert "head 0.0" in browser.one("[data-at=edge-panel]").text
    assert browser.errors() == []


def test_a_pinned_node_is_let_go_by_the_same_key_and_by_escape(browser, pages):
    """By keyboard as by pointer; while it is pinned, its edges stand out."""
    opened(browser, pages["program"])
    for let_go in ("ENTER", "ESCAPE"):
        browser.run("document.querySelector('.sideways [data-node=logits]').focus()")
        browser.press("ENTER")
        expect_fragment(browser, "#node=logits")
        browser.run("document.querySelector('.sideways [data-node=logits]').blur()")
        assert browser.all(".sideways .edge.near")
        browser.run("document.querySelector('.sideways [data-node=logits]').focus()")
        browser.press(let_go)
        expect_fragment(browser, "")
        assert not browser.all(".pinned")


@pytest.mark.parametrize(
    "fragment", ["#prompt=9999", "#prompt=x&node=head+9.9&edge=-1", "#%&=&prompt", "#circuit&prompt="]
)
def test_an_address_that_names_nothing_changes_nothing(browser, pages, fragment):
    """Anybody may write an address."""
    opened(browser, pages["program"])
    before = browser.texts("#explanation h2")
    opened(browser, pages["program"], fragment)
    assert browser.texts("#explanation h2") == before
    assert browser.errors() == []


def test_the_address_of_a_run_opens_the_bundle_that_it_names(browser, pages):
    """Each bundle of a run has pins of its own."""
    opened(browser, pages["run"], "#bundle-0-circuit&bundle-0-prompt=2&bundle-0-node=logits")
    assert browser.one("#bundle-0-circuit").is_displayed()
    assert browser.texts("#bundle-0-explanation h2") == ["One prompt: #2"]
    opened(browser, pages["run"])
    browser.click("#bundles h3 a")
    assert browser.one("#bundle-0-circuit").is_displayed()
    assert browser.errors() == []


def test_neural_heads_have_their_whole_attention_matrix(browser, pages):
    """From every position, though only some are read on the way to the logits."""
    view = viewed.view_of(NEURAL)
    bundle = view.bundle
    for place in closest(view)[:2]:
        prompt = bundle.domain.prompts[place]
        opened(browser, pages["neural"], f"#prompt={place}")
        for number, details in enumerate(browser.all("#heads [data-head]")):
            head = details.get_attribute("data-head")
            for query in range(len(prompt)):
                prefix = prompt[: query + 1]
                alone = trace(bundle, (prefix,), is_whole=True)
                weights = dict(
                    next(row[-1] for one, row in alone.matrices(prefix).items() if str(one) == head)
                )
                path = f"#heads [data-head]:nth-of-type({number + 1}) tbody tr:nth-child({query + 1}) td"
                wanted = [shown(weights[key]) if weights.get(key) else "" for key in range(len(prompt))]
                assert browser.texts(path) == wanted


def test_no_line_ends_inside_the_name_of_an_edge(browser, pages):
    """In tables, facts and panels, at any width: a browser would break after the sign -."""
    for name in ("program", "neural"):
        opened(browser, pages[name], "#edge=0")
        broken = browser.run(
            "const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);"
            "const found = [];"
            "while (walker.nextNode()) {"
            "  const text = walker.currentNode;"
            "  const isKept = text.parentElement.closest('.unbroken, title, script');"
            "  if (text.data.includes('->') && !isKept) found.push(text.data);"
            "}"
            "return found"
        )
        assert broken == [], name
        assert (
            browser.run("return getComputedStyle(document.querySelector('.unbroken')).whiteSpace") == "nowrap"
        )
