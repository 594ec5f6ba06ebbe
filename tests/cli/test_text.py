"""Text in and text out: commands, pages and the API of a model whose directory has a tokenizer."""

import json

import pytest

import circuitproof as cp
from circuitproof.errors import InputError
from page_reader import read
from text_models import PATTERN, PROMPTS, RAW, TASK, write_text_model


@pytest.fixture
def given(tmp_path):
    """A model with its tokenizer, a task of texts, and one of a pattern."""
    tokenizer = write_text_model(tmp_path / "model")
    (tmp_path / "task.toml").write_text(TASK)
    (tmp_path / "pattern.toml").write_text(PATTERN)
    edges = ["embed -> head 0.0", "head 0.0 -> logits"]
    circuit = {"layers": 1, "heads": 1, "ablation": "zero", "edges": edges}
    (tmp_path / "circuit.json").write_text(json.dumps(circuit))
    return tmp_path, tokenizer


def verified(run, folder, task, *more):
    """Prove a task of the folder's model."""
    asked = ("--model", folder / "model", "--circuit", folder / "circuit.json", "--task", folder / task)
    return run("verify", *asked, "--out", folder / "bundle", *more)


def is_legible(text):
    """Say that no sign of the spelling of bytes is seen."""
    return not set(RAW) & set(text)


def test_a_task_of_texts_is_proved_and_shown_as_text(run, given):
    """On the terminal, on the page, in text and figures of the page, blanks and line ends are seen."""
    folder, _ = given
    code, out, _ = verified(run, folder, "task.toml", "--epsilon", "1/10")
    assert code == 0
    assert is_legible(out)
    code, text, _ = run("show", folder / "bundle")
    assert is_legible(text)
    assert "if ␣x : ⏎␣␣␣ ␣return ␣' b" in " ".join(text.split())
    run("report", folder / "bundle", "--out", folder / "page.html")
    page = read((folder / "page.html").read_text())
    assert is_legible(" ".join(page.text))
    assert "⏎␣␣␣" in json.loads(page.data)["tokens"]
    assert is_legible("".join(json.loads(page.data)["tokens"]))


def test_programs_and_patterns_show_tokens_beside_their_numbers(run, given):
    """A number alone tells nobody what a head looks for."""
    folder, tokenizer = given
    (single,), (double,) = tokenizer.encode(" '"), tokenizer.encode(' "')
    told = f"{single} ␣', {double} ␣\"" if single < double else f"{double} ␣\", {single} ␣'"
    _, out, _ = run("model", folder / "model")
    assert f"# {told}" in out
    assert is_legible(out)
    _, out, _ = run("task", folder / "pattern.toml", "--model", folder / "model")
    assert f"({told})" in out
    assert is_legible(out)
    code, out, _ = verified(run, folder, "pattern.toml")
    assert code == 0
    assert f"({told})" in out
    _, text, _ = run("show", folder / "bundle")
    assert f"# {told}" in " ".join(text.split())
    assert f"({told})" in " ".join(text.split())
    assert is_legible(text)


def test_a_pattern_on_the_command_line_takes_text(run, given):
    """Between quotation marks of either kind."""
    folder, _ = given
    pattern = """any{1..3} with exactly 1 of [" '", ' "']"""
    code, out, _ = verified(run, folder, "pattern.toml", "--pattern", pattern)
    assert code == 0
    assert "any{1..3} with exactly 1 of [" in out


def test_a_counterexample_is_shown_as_text(run, given):
    """What breaks a claim is read, not deciphered."""
    folder, _ = given
    (folder / "weak").mkdir()
    write_text_model(folder / "weak" / "model", decides=-1)
    asked = ("--model", folder / "weak" / "model", "--circuit", folder / "circuit.json")
    code, out, _ = run("verify", *asked, "--task", folder / "task.toml", "--property", "equivalence")
    assert code == 1
    assert 'prompt 1: if ␣x ␣== ␣" a' in out
    assert is_legible(out)


def test_explain_takes_text_names_and_numbers_for_the_same_prompt(run, given):
    """With the model its tokenizer reads text; without, what is shown is read back."""
    folder, tokenizer = given
    verified(run, folder, "task.toml")
    prompt = tokenizer.encode(PROMPTS[2])
    shown = tokenizer.alphabet.named().text(prompt)
    spelled = [(PROMPTS[2], "--model", folder / "model"), (shown,), (" ".join(map(str, prompt)),), ("#2",)]
    for text, *more in spelled:
        code, out, _ = run("explain", text, "--bundle", folder / "bundle", *more, "--json")
        assert code == 0
        assert json.loads(out)["prompt"] == list(prompt)
        assert json.loads(out)["text"] == shown.split()
    _, out, _ = run("explain", PROMPTS[2], "--bundle", folder / "bundle", "--model", folder / "model")
    assert "⏎␣␣␣" in out
    assert is_legible(out)


def test_the_api_takes_text_where_the_command_line_does(given):
    """Tasks, patterns and explanations."""
    folder, tokenizer = given
    model = cp.load_model(folder / "model")
    task = cp.declare_task(
        "marks",
        model=model,
        alphabet="text",
        prompts=PROMPTS,
        answers=["'", '"', "'", '"'],
        classes=[0, 1, 0, 1],
    )
    assert task.digest == cp.load_task(folder / "task.toml", model=model).digest
    on_pattern = cp.declare_task(
        "marks",
        model=model,
        vocabulary=model.frozen.architecture.vocabulary,
        candidates=["'", '"'],
        answers={" '": "'", ' "': '"'},
        pattern="""any{1..5} with exactly 1 of openers""",
        sets={"openers": [" '", ' "']},
    )
    assert on_pattern.digest == cp.load_task(folder / "pattern.toml", model=model).digest
    found = cp.verify(model, task, cp.load_circuit(folder / "circuit.json"), out=folder / "bundle")
    assert is_legible(repr(found))
    explained = cp.explain(folder / "bundle", PROMPTS[0], model=model)
    assert explained.prompt == tokenizer.encode(PROMPTS[0])
    assert is_legible(repr(explained))


def test_text_for_explain_needs_the_tokenizer_of_the_bundles_model(run, given):
    """Another model's tokens are other tokens."""
    folder, _ = given
    verified(run, folder, "task.toml")
    (folder / "bare").mkdir()
    write_text_model(folder / "bare" / "model", is_bare=True)
    asked = ("--bundle", folder / "bundle", "--model", folder / "bare" / "model")
    code, _, said = run("explain", PROMPTS[0], *asked)
    assert code == 3
    assert "the model comes without a tokenizer" in said
    with pytest.raises(InputError, match="without a tokenizer"):
        cp.explain(folder / "bundle", PROMPTS[0], model=folder / "bare" / "model")


def test_logits_take_text_where_the_model_has_a_tokenizer(run, given):
    """A text, or the same prompt as tokens; candidates as text, as they are shown, and by number."""
    folder, tokenizer = given
    prompt, (single,) = tokenizer.encode(PROMPTS[2]), tokenizer.encode("'")
    shown = tokenizer.alphabet.named().text(prompt)
    asked = ("logits", "--model", folder / "model", "--candidates", f"' ␣\" <{single}>")
    found = []
    for more in (
        ("--prompt", PROMPTS[2]),
        ("--tokens", shown),
        ("--tokens", " ".join(f"<{x}>" for x in prompt)),
    ):
        code, out, _ = run(*asked, *more, "--json")
        assert code == 0
        found.append(json.loads(out))
        assert found[-1]["prompts"][0]["prompt"] == list(prompt)
    assert found[0] == found[1] == found[2]
    assert found[0]["candidates"] == [single, *tokenizer.encode(' "')]
    assert found[0]["prompts"][0]["logits"] == ["1", "0"]
    _, out, _ = run("logits", "--model", folder / "model", "--prompt", PROMPTS[2])
    assert "⏎␣␣␣" in out
    assert is_legible(out)


def test_the_api_gives_logits_of_texts(given):
    """A list of tokens is no text, and a text of several tokens is no candidate."""
    folder, tokenizer = given
    model = cp.load_model(folder / "model")
    of_texts = cp.logits(model, list(PROMPTS), candidates=["'", ' "'])
    assert of_texts.prompts == tuple(map(tokenizer.encode, PROMPTS))
    assert of_texts.values == cp.logits(model, list(of_texts.prompts), candidates=["'", ' "']).values
    assert cp.logits(model, PROMPTS[0]).prompts == of_texts.prompts[:1]
    with pytest.raises(InputError, match="'x == y' is no token of the model"):
        cp.logits(model, PROMPTS[0], candidates=["x == y"])
    with pytest.raises(InputError, match="0 tokens, want 1 to 16"):
        cp.logits(model, "")


def test_a_program_is_found_for_a_neural_head_of_a_model_that_reads_text(run, given):
    """What cannot be searched for is refused with what to do: another head, names of tokens."""
    folder, _ = given
    asked = ("--task", folder / "task.toml", "--head", "0.0", "--rules", 1, "--out", folder / "program.txt")
    code, _, err = run("synthesise", "--model", folder / "model", *asked)
    assert code == 3
    assert "want a neural head, of which this model has none" in err
    write_text_model(folder / "neural", is_neural=True)
    code, out, _ = run("synthesise", "--model", folder / "neural", *asked)
    assert code == 0
    assert f"{folder / 'program.txt'} holds the program" in out
    write_text_model(folder / "bare", is_bare=True)
    code, _, err = run("synthesise", "--model", folder / "bare", *asked, "--force")
    assert code == 3
    assert "write each prompt as a list of names of tokens" in err
