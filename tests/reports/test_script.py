"""Pages in a real browser: from disk, without network, by pointer and keyboard, on screens and on paper."""

from fractions import Fraction
from pathlib import Path

import pytest

import circuitproof as cp
import viewed
from browsers import Browser
from circuitproof.circuits.graph import Head
from circuitproof.files.reading import shown
from circuitproof.programs.meaning import row
from circuitproof.reports import numbers
from circuitproof.reports.bundle_view import BundleView, tell
from circuitproof.reports.elements import el, render
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.page import alone, bundle_fragment, bundle_page
from circuitproof.reports.said import framed
from circuitproof_check.main import Beside
from circuitproof_lab.pages.reporting import look_at as look_at_run
from hand_models import DOUBLE
from large_claims import large_bundle
from run_folders import write_run
from text_models import write_text_model

PROVED, REFUTED = Fraction(1, 100), Fraction(1)
MEGABYTE = (
    "<script>window.harm = 1</script><img src=x onerror='window.harm = 1'>\u202e\u2066\u200f"
    + "long " * 200_000
)
WIDTHS = (360, 800, 1280)
THEMES = ("light", "dark")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of every kind by name: proved, refuted, of a pattern, hostile, of a run, of hundreds of edges."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "proved": bundle_page(viewed.quotes_view(PROVED)),
        "refuted": bundle_page(viewed.quotes_view(REFUTED)),
        "pattern": bundle_page(next(one for one in map(viewed.view_of, viewed.seeds()) if one.trees)),
        "hostile": bundle_page(viewed.hostile(viewed.quotes_view(REFUTED), MEGABYTE)),
        "run": look_at_run(write_run(folder / "run"), Beside()).page(),
        "large": _large(folder),
    }
    for name, page in made.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def _large(folder: Path) -> str:
    """Return the page of 340 edges; circuits without an edge take too long for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "_LESIONS", 0)
        view = tell(large_bundle(folder / "large", prompts=8))
    assert isinstance(view, BundleView)
    return bundle_page(view)


def shown_prompts(browser: Browser) -> list[int]:
    """Return the places of the prompts in the table."""
    script = (
        "return [...document.querySelectorAll('.prompts [data-prompt]')].map((one) => +one.dataset.prompt)"
    )
    return browser.run(script)


def found_numbers(epsilon: Fraction) -> Numbers:
    """Return the numbers behind a page."""
    found = viewed.quotes_view(epsilon).numbers
    assert isinstance(found, Numbers)
    return found


def test_every_page_opens_from_disk_without_network_and_without_complaint(browser, pages):
    """One file is all there is: nothing is fetched, and the browser has nothing to say."""
    for name, page in pages.items():
        browser.open(page)
        assert browser.run("return performance.getEntriesByType('resource').length") == 0, name
        assert browser.errors() == [], name
        assert browser.run("return document.querySelector('.circuitproof').dataset.live") == "", name


def test_a_browser_that_may_not_fetch_says_so(browser, tmp_path):
    """The twin of the test above: what a page would fetch is refused, and the complaint is seen."""
    page = bundle_page(viewed.quotes_view(PROVED)).replace(
        "<main", '<img src="https://example.org/x.png"><main'
    )
    (tmp_path / "fetches.html").write_text(page, encoding="utf-8")
    browser.open(tmp_path / "fetches.html")
    assert any("Content Security Policy" in said for said in browser.errors())


def test_search_keeps_the_prompts_that_have_the_words(browser, pages):
    """As soon as a letter is typed, and as often as it is changed."""
    view = viewed.quotes_view(PROVED)
    browser.open(pages["proved"])
    browser.one("[data-at=search]").send_keys('"')
    doubles = [place for place, prompt in enumerate(view.bundle.domain.prompts) if DOUBLE in prompt]
    assert shown_prompts(browser) == doubles[:50]
    assert browser.texts("[data-at=found]") == [f"50 of {len(doubles)} shown"]
    browser.one("[data-at=search]").send_keys("no such prompt")
    assert shown_prompts(browser) == []
    assert browser.texts("[data-at=found]") == ["0 of 0 shown"]


@pytest.mark.parametrize("column", ["prompt", "answer", "decision", "margin", "radius", "cell"])
def test_sorting_by_a_column_is_exact(browser, pages, column):
    """Up, then down; margins and radii by their exact order, whatever their digits are."""
    found, prompts = found_numbers(PROVED), len(viewed.quotes_view(PROVED).bundle.domain)
    cells = [found.cells[cell] for cell in found.cell_of]
    exact = {"margin": [cell.margin for cell in cells], "radius": [cell.flip.radius for cell in cells]}
    browser.open(pages["proved"])
    place = browser.texts(".prompts thead th").index(column)
    for is_down in (False, True):
        browser.click(f".prompts thead th:nth-child({place + 1}) button")
        while len(shown_prompts(browser)) < prompts:
            browser.click("[data-at=more]")
        keys = browser.texts(f".prompts tbody td:nth-child({place + 1})")
        if column in exact:
            keys = [exact[column][prompt] for prompt in shown_prompts(browser)]
        if column == "cell":
            keys = [int(key) for key in keys]
        assert keys == sorted(keys, key=str.lower if column == "prompt" else None, reverse=is_down)
        assert len(shown_prompts(browser)) == prompts


def test_pointing_at_an_edge_tells_what_it_brings_who_needs_it_and_a_witness(browser, pages):
    """What the table and the evidence say of the edge, where the eye is."""
    view, found = viewed.quotes_view(PROVED), found_numbers(PROVED)
    browser.open(pages["proved"])
    assert not browser.one("[data-at=edge-card]").is_displayed()
    browser.point_at("#edge-1 .hit")
    said = browser.one("[data-at=edge-card]").text
    edge = list(view.bundle.circuit)[1]
    flow = found.cells[found.cell_of[0]].flow
    assert str(edge) in said
    assert f"brings {shown(flow.edges[edge])} to the margin" in said
    assert (
        f"without it {len(found.needs[edge].flips)} decisions flip and {len(found.needs[edge].ties)} tie"
        in said
    )
    assert "witness: <BOS>" in said
    browser.point_at("h1")
    assert not browser.one("[data-at=edge-card]").is_displayed()


def test_choosing_an_edge_shows_the_prompts_that_need_it_until_it_is_let_go(browser, pages):
    """In a panel at the drawing, and as the rows of the table; by pointer, from the table, by keyboard."""
    found = found_numbers(PROVED)
    needs = next(iter(found.needs.values()))
    wanted = {*needs.flips, *needs.ties}
    browser.open(pages["proved"])
    for choose in (lambda: browser.click("#edge-0 .hit"), lambda: browser.click(".edges [data-edge='0']")):
        choose()
        assert f"{len(wanted)} prompts" in browser.one("[data-at=edge-panel]").text
        assert browser.texts("[data-at=found]") == [f"50 of {len(wanted)} shown"]
        assert set(shown_prompts(browser)) <= wanted
        browser.run("document.querySelector('.edges a').focus()")
        browser.press("ESCAPE")
        assert browser.texts("[data-at=edge-panel]") == [""]
        assert browser.texts("[data-at=found]") == [f"50 of {len(found.cell_of)} shown"]
    browser.run("document.querySelector('#edge-0').focus()")
    assert browser.one("[data-at=edge-card]").is_displayed()
    browser.press("ENTER")
    assert browser.texts("[data-at=found]") == [f"50 of {len(wanted)} shown"]


def test_choosing_a_prompt_explains_it_and_shows_where_each_program_looks(browser, pages):
    """The attention on the page is that of the program, position by position."""
    view = viewed.quotes_view(PROVED)
    browser.open(pages["proved"])
    browser.click(".prompts tr:nth-child(3) a")
    place = shown_prompts(browser)[2]
    prompt = view.bundle.domain.prompts[place]
    assert browser.texts("#explanation h2") == [f"One prompt: #{place}"]
    assert all(said.startswith(f"#{place}: <BOS>") for said in browser.texts("[data-at=chosen-prompt] bdi"))
    lines = [browser.texts(f".attention tbody tr:nth-child({query + 1}) td") for query in range(len(prompt))]
    program = view.bundle.frozen.programs[Head(0, 0)]
    for query, line in enumerate(lines):
        weights = dict(row(program, prompt, query))
        assert line == [shown(weights[key]) if key in weights else "" for key in range(len(prompt))]
    browser.click("#heads [aria-label='next prompt']")
    assert browser.texts("#explanation h2") != [f"One prompt: #{place}"]


def test_counterexamples_are_gone_through_with_what_was_added(browser, pages):
    """A refutation first, what it adds coordinate by coordinate; then the witnesses, by button and key."""
    view = viewed.quotes_view(REFUTED)
    first = next(one for one in view.witnesses if one.is_refutation)
    browser.open(pages["refuted"])
    assert f"1 of {len(view.witnesses)}: refutes robustness at 1" in browser.words("[data-at=walk]")
    titles = browser.run("return [...document.querySelectorAll('.eta span')].map((one) => one.title)")
    added = first.shown[0].perturbation
    assert titles == [f"coordinate {place}: {shown(size)}" for place, size in enumerate(added)]
    browser.click("[aria-label='next witness']")
    assert f"2 of {len(view.witnesses)}: shows necessity" in browser.words("[data-at=walk]")
    browser.press("ARROW_RIGHT", "ARROW_RIGHT")
    assert f"1 of {len(view.witnesses)}: refutes" in browser.words("[data-at=walk]")
    browser.click("#witnesses tbody tr:nth-child(3) [data-witness]")
    assert f"3 of {len(view.witnesses)}: shows necessity" in browser.words("[data-at=walk]")


def test_everything_is_reached_by_keyboard(browser, pages):
    """The first key leads past the menu; a stroke leads to the search; arrows go through rows and prompts."""
    browser.open(pages["proved"])
    browser.press("TAB")
    assert browser.focused() == "to the content"
    browser.press("/", "D")
    assert browser.run("return document.activeElement.dataset.at") == "search"
    assert browser.one("[data-at=search]").get_attribute("value") == "D"
    browser.run("document.querySelector('.prompts tbody a').focus()")
    first, second = browser.texts(".prompts tbody a")[:2]
    assert browser.focused() == first
    browser.press("ARROW_DOWN")
    assert browser.focused() == second
    browser.press("ENTER")
    assert browser.texts("#explanation h2") == [f"One prompt: #{shown_prompts(browser)[1]}"]
    unreached = browser.run(
        "return [...document.querySelectorAll('a, button, input, .scroll, g.edge')]"
        ".filter((one) => one.tabIndex < 0).length"
    )
    assert unreached == 0


def test_untrusted_names_are_text_in_a_browser_too(browser, pages):
    """A megabyte of markup, and signs that turn the direction: nothing runs, breaks, or is too wide."""
    browser.open(pages["hostile"])
    assert browser.errors() == []
    assert browser.run("return window.harm") is None
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert (
        browser.run("return /[\\u202a-\\u202e\\u2066-\\u2069\\u200f]/.test(document.body.textContent)")
        is False
    )
    assert any("<script>" in said for said in browser.texts(".prompts tbody a"))
    browser.one("[data-at=search]").send_keys("script")
    assert len(shown_prompts(browser)) == 50
    browser.resize(360)
    assert browser.run("return document.documentElement.scrollWidth") <= 360
    browser.resize(1280)


def test_no_page_is_wider_than_its_window(browser, pages):
    """At the width of a phone, a tablet and a desk: what is wide scrolls by itself."""
    for name, page in pages.items():
        browser.open(page)
        browser.run(
            "for (const one of document.querySelectorAll('section')) one.style.contentVisibility = 'visible'"
        )
        for width in WIDTHS:
            browser.resize(width)
            assert browser.run("return document.documentElement.scrollWidth") <= width, (name, width)
    browser.resize(1280)


def test_names_of_nodes_fit_and_no_two_nodes_touch(browser, pages):
    """With two edges and with 340."""
    for name in ("proved", "large"):
        browser.open(pages[name])
        boxes = browser.run(
            "const ends = (b) => [b.x, b.y, b.x + b.width, b.y + b.height];"
            "const box = (node, name) => ends(node.querySelector(name).getBBox());"
            "const nodes = [...document.querySelectorAll('svg:not(.upwards) g.node')];"
            "return nodes.map((node) => [box(node, 'rect'), box(node, 'text')])"
        )
        for box, text in boxes:
            assert box[0] <= text[0] < text[2] <= box[2], name
        rects = [box for box, _ in boxes]
        for place, one in enumerate(rects):
            for other in rects[:place]:
                assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1], (
                    name
                )


def test_of_many_edges_each_can_be_pointed_at(browser, pages):
    """Where 340 edges are drawn, those of a node stand out when it is pointed at."""
    browser.open(pages["large"])
    assert len(browser.all("g.edge")) == 340
    browser.point_at("g.node:nth-child(40)")
    node = browser.run("return document.querySelector('g.node:nth-child(40)').dataset.node")
    near = browser.run(
        "const ends = (edge) => [edge.dataset.source, edge.dataset.target];"
        "return [...document.querySelectorAll('g.edge.near')].map(ends)"
    )
    assert near
    assert all(node in ends for ends in near)
    browser.click(".edges [data-edge='300']")
    assert browser.texts("g.edge.chosen") == [""]


def test_bundles_inside_the_page_of_a_run_are_alive(browser, pages):
    """Opened, a bundle's parts answer as on a page of their own, in the theme that was chosen."""
    browser.open(pages["run"])
    assert not browser.one("#bundle-0-verdicts").is_displayed()
    browser.click("#proofs summary")
    assert browser.one("#bundle-0-verdicts").is_displayed()
    places = shown_prompts(browser)
    browser.click("#bundle-0-prompts tbody tr:nth-child(2) a")
    assert browser.texts("#bundle-0-explanation h2") == [f"One prompt: #{places[1]}"]
    roots = "[...document.querySelectorAll('.circuitproof')]"
    colours = f"return {roots}.map((one) => getComputedStyle(one).color)"
    before = browser.run(colours)
    browser.click("[data-at=theme]")
    after = browser.run(colours)
    assert len(set(before)) == len(set(after)) == 1
    assert before != after
    assert browser.errors() == []


def fits(frames):
    """Say whether each frame is as high as what it holds; a browser sets that when it next draws."""
    return all(0 <= frame - inside <= 1 and frame >= whole for frame, inside, whole, _ in frames)


@pytest.mark.parametrize("ground", ["#111", "#fff"])
def test_a_result_in_a_notebook_fits_its_frame_and_has_the_theme_of_the_notebook(browser, tmp_path, ground):
    """Nothing of it is cut off, nothing is left empty, and a dark notebook on a light system stays dark."""
    frames = "".join(framed(alone(el("section", *[el("p", "a line")] * lines)), 420) for lines in (1, 40))
    body = f'<body style="background:{ground}">{frames}</body>'
    (tmp_path / "notebook.html").write_text(f"<!doctype html>\n<html>{body}</html>", encoding="utf-8")
    browser.open(tmp_path / "notebook.html")
    sizes = (
        "return [...document.querySelectorAll('iframe')].map((one) => {"
        "const body = one.contentDocument.body;"
        "return [one.offsetHeight, body.offsetHeight, body.scrollHeight, body.dataset.theme]; })"
    )
    found = browser.awaited(sizes, fits)
    assert fits(found), found
    (short, *_), (long, *_) = found
    assert short < 150
    assert long > 900
    assert {theme for *_, theme in found} == {"dark" if ground == "#111" else "light"}
    assert browser.errors() == []


CONTRAST = """
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const channel = (c) => (c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
const luminance = (color) => {
  const [r, g, b] = color.slice(0, 3).map((c) => channel(c / 255));
  return .2126 * r + .7152 * g + .0722 * b;
};
const ground = (one) => {
  for (let at = one; at; at = at.parentElement) {
    const found = parse(getComputedStyle(at).backgroundColor);
    if (found.length < 4 || found[3] > .9) return found;
  }
  return [255, 255, 255];
};
const contrast = (one) => {
  const ends = [parse(getComputedStyle(one).color), ground(one)].map(luminance).sort((x, y) => y - x);
  return (ends[0] + .05) / (ends[1] + .05);
};
const wanted = [...document.querySelectorAll(arguments[0])];
const found = wanted.map((one) => [`${one.tagName}.${one.className}`, contrast(one)]);
return found.filter(([, ratio]) => ratio < 4.5);
"""


@pytest.mark.parametrize("theme", THEMES)
def test_words_are_legible_in_both_themes(browser, pages, theme):
    """Every text has the contrast that the accessibility guidelines ask for: 4.5 to 1."""
    browser.show_as(theme=theme)
    for name in ("proved", "refuted", "run"):
        browser.open(pages[name])
        assert browser.run(CONTRAST, "h1, h2, h3, p, li, td, th, a, .badge, figcaption, button") == [], name
    browser.show_as()


def test_the_button_changes_the_theme(browser, pages):
    """Whatever the system says."""
    browser.open(pages["proved"])
    before = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.click("[data-at=theme]")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != before
    browser.click("[data-at=theme]")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == before


def test_the_picture_of_a_long_prompt_has_the_colours_of_the_theme(browser, tmp_path):
    """Of more than 24 tokens the attention is painted, a spot for each pair, and anew in another theme."""
    write_text_model(tmp_path / "model", context=32)
    model = cp.load_model(tmp_path / "model")
    prompts = ["if x == x:\n    return x\n    " * 3 + mark for mark in (" '", ' "')]
    task = cp.declare_task(
        "marks", model=model, alphabet="text", prompts=prompts, answers=["'", '"'], classes=[0, 1]
    )
    assert all(len(prompt) > 24 for prompt in task.prompts)
    circuit = cp.circuit(model, ["embed -> head 0.0", "head 0.0 -> logits"])
    cp.verify(model, task, circuit, out=tmp_path / "bundle")
    cp.report(tmp_path / "bundle", out=tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    spot = """const one = document.querySelector("canvas.attention");
        const [red, green, blue] = one.getContext("2d").getImageData(3, 3, 1, 1).data;
        return [`rgb(${red}, ${green}, ${blue})`, getComputedStyle(one).color]"""
    before = browser.awaited(spot, lambda found: found[0] == found[1])
    assert before[0] == before[1]
    browser.click("[data-at=theme]")
    after = browser.awaited(spot, lambda found: found[0] == found[1] != before[0])
    assert after[0] == after[1] != before[0]
    browser.errors()  # it advises those who read canvases, as this test does


def test_on_paper_everything_is_shown_and_nothing_is_a_control(browser, pages):
    """What scrolls on a screen is printed whole, dark on white even where the system is dark."""
    browser.show_as(theme="dark", media="print")
    browser.open(pages["refuted"])
    assert not any(one.is_displayed() for one in browser.all("nav, :not(th) > button, input"))
    titles = browser.all("thead th")
    assert titles
    assert all(one.text and one.is_displayed() for one in titles)
    cut = browser.run(
        "return [...document.querySelectorAll('.tall')]"
        ".filter((one) => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert cut == 0
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    browser.show_as()
    assert len(browser.command("Page.printToPDF")["data"]) > 10_000


def test_pieces_of_two_bundles_live_in_one_document(browser, tmp_path):
    """As in a notebook: each has its own script, data and names, and neither hears of the other."""
    pieces = [
        bundle_fragment(viewed.quotes_view(epsilon), prefix)
        for epsilon, prefix in ((PROVED, "a-"), (REFUTED, "b-"))
    ]
    head = render(el("head", el("meta", charset="utf-8"), el("title", "notebook")))
    (tmp_path / "notebook.html").write_text(f"<!doctype html>\n{head}{''.join(pieces)}", encoding="utf-8")
    browser.open(tmp_path / "notebook.html")
    assert browser.errors() == []
    before = browser.texts("#b-explanation h2")
    browser.click("#a-prompts tr:nth-child(3) a")
    assert browser.texts("#a-explanation h2") != before
    assert browser.texts("#b-explanation h2") == before
    assert browser.texts("#b-witnesses strong")[0] == "refutes robustness at 1, logits input, positions last"
    ids = browser.run("return [...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
