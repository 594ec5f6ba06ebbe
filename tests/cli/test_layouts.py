"""The converters of docs/models.md, each run on a torch model of its layout."""

import json
import re

import pytest
import torch

import circuitproof as cp
from layouts import LAYOUTS, drawn
from places import DOCS

PAGE = (DOCS / "models.md").read_text()


def block_after(words):
    """Return the first block of Python that stands after some words of the page."""
    return re.search(re.escape(words) + r".*?```python\n(.*?)```", PAGE, re.DOTALL)[1]


def test_every_layout_of_the_page_is_run():
    """A converter that nobody runs is a guess."""
    assert set(re.findall("<!-- layout (.*) -->", PAGE)) == {"shared", *LAYOUTS}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_converter_makes_the_same_model_and_the_comparison_says_so(layout, run, tmp_path, monkeypatch):
    """The page's own lines convert, record and compare; a changed number is beyond the bound."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)
    original = drawn(layout)
    known = {"state": original.state_dict(), "original": original}
    exec(block_after("<!-- layout shared -->"), known)  # noqa: S102  # our own page
    exec(block_after(f"<!-- layout {layout} -->"), known)  # noqa: S102  # the same
    lines = block_after("With one of them").replace("from_fused", f"from_{layout}")
    exec(lines, known)  # noqa: S102  # the same
    exec(block_after("Record some logits"), known)  # noqa: S102  # the same
    asked = ("model", "mine", "--compare", "logits.safetensors", "--within", "1e-4")
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    assert "FP64 logits at 35 positions differ" in out
    assert "top-1 agrees at 35 of 35 positions" in out
    code, out, _ = run(*asked, "--json")
    compared = json.loads(out)["compared"]
    assert (code, compared["is_within"], compared["exact"]) == (0, True, False)
    tensors = known[f"from_{layout}"](known["state"], 2, 4)
    tensors["head.1.2.value.weight"] = tensors["head.1.2.value.weight"] + 1 / 4
    cp.write_model(cp.load_model("mine").architecture, tensors, "other")
    code, out, _ = run(*("other" if one == "mine" else one for one in asked))
    assert (code, "beyond the bound of 0.0001" in out) == (1, True)
