from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.generator import Generator, NamedTokens, Pool, PromptTemplate, Slot, deal
from circuitproof.tasks.quotes import toy_quotes

LETTERS = ("A", "B", "C", "D")
SIX = PromptTemplate("six", "<BOS> <TASK_QUOTE> {x} {opener} {y} {z}")
FOUR = PromptTemplate("four", "<BOS> {opener} {x} {y}")
GENERATOR = Generator(
    task="quotes",
    salt="one",
    encoder=NamedTokens(TOY),
    answers=(("'", "'"), ('"', '"')),
    templates=(SIX, FOUR),
    slots=tuple(Slot(name, LETTERS) for name in "xyz"),
)


def templated(*templates):
    """Return the generator with other templates and the slots that they have."""
    used = {name for template in templates for name in template.slots()}
    slots = tuple(slot for slot in GENERATOR.slots if slot.name in used)
    return replace(GENERATOR, templates=templates, slots=slots)


def test_a_slot_that_no_template_has_is_refused():
    """It would be words that nobody ever sees."""
    with pytest.raises(DeclarationError, match="slot 'z' stands in no template; use it or leave it out"):
        replace(GENERATOR, templates=(FOUR,))


def test_every_filling_of_every_template_is_there_once():
    """128 prompts of six tokens and 32 of four, none twice."""
    rows = GENERATOR.order()
    assert len({row.prompt for row in rows}) == len(rows) == 128 + 32
    assert {row.prompt for row in rows if row.template == "six"} == set(toy_quotes().domain.prompts)


def test_the_order_depends_on_the_declaration_alone():
    """The same twice; another with another salt; the same prompts with either."""
    again, other = replace(GENERATOR), replace(GENERATOR, salt="two")
    assert again.order() == GENERATOR.order()
    assert again.digest == GENERATOR.digest != other.digest
    assert other.order() != GENERATOR.order()
    assert {row.prompt for row in other.order()} == {row.prompt for row in GENERATOR.order()}


def test_the_digest_covers_the_vocabulary():
    """Two tokenizers may give the same prompts and still not be the same experiment."""
    renamed = replace(TOY, names=(*TOY.names[:-1], "<31 renamed>"))
    other = replace(GENERATOR, encoder=NamedTokens(renamed))
    assert [row.prompt for row in other.order()] == [row.prompt for row in GENERATOR.order()]
    assert other.digest != GENERATOR.digest


@given(st.lists(st.integers(1, 4).map(lambda quarter: 4 * quarter), min_size=1, max_size=4))
def test_splits_are_balanced_disjoint_and_cover_every_template(sizes):
    """What the manifest promises holds for every way to cut the order."""
    splits = deal(GENERATOR.order(), sizes, strata=2)
    assert [len(split) for split in splits] == sizes
    for split in splits:
        assert set(Counter(row.opener for row in split).values()) == {len(split) // 2}
        assert {row.template for row in split} == {"six", "four"}
    prompts = [row.prompt for split in splits for row in split]
    assert len(set(prompts)) == len(prompts)


def test_the_task_asks_for_the_opener():
    """Answers come from the openers, strata are their names."""
    rows = GENERATOR.order()[:4]
    task = GENERATOR.make_task(rows)
    assert task.answers() == tuple(row.prompt[row.position] for row in rows)
    assert task.domain.strata == tuple(row.opener for row in rows)


def test_asking_for_more_prompts_than_there_are_is_refused():
    """The pilot's defect, 128 rows from 16 templates, cannot be declared."""
    few = templated(PromptTemplate("one", "<BOS> {opener} {x}"))
    with pytest.raises(DeclarationError, match="need 128, the templates give 8 distinct ones; a prompt is"):
        deal(few.order(), [128], strata=2)


def test_templates_that_give_one_prompt_twice_are_refused():
    """Two names for one observation are still one observation."""
    twins = templated(FOUR, PromptTemplate("again", "<BOS> {opener} {x} {y}"))
    with pytest.raises(DeclarationError, match=r"templates 'four' and 'again' both give prompt \(1, "):
        twins.order()


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ([3], "a split of 3 prompts is not balanced; want a multiple of 2"),
        ([0], "a split of 0 prompts is not balanced"),
        ([2], "a split of 2 prompts has none from template 'four'; ask for more"),
    ],
)
def test_a_split_that_is_not_balanced_is_refused(sizes, sentence):
    """A gate without some template says nothing about it."""
    with pytest.raises(DeclarationError, match=sentence):
        deal(GENERATOR.order(), sizes, strata=2)


def test_a_split_for_which_an_opener_has_no_prompts_left_is_refused():
    """Here one opener was taken out of the order."""
    rows = [row for row in GENERATOR.order() if row.opener == "'"]
    with pytest.raises(DeclarationError, match="want as many of each; an opener has no prompts left"):
        deal(rows, [4], strata=2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"templates": ()}, "want at least one template and one opener"),
        ({"answers": ()}, "want at least one template and one opener"),
        ({"slots": (Slot("x", LETTERS), Slot("x", LETTERS))}, "want distinct names, none 'opener'"),
        ({"slots": (Slot("opener", LETTERS),)}, "want distinct names, none 'opener'"),
        ({"templates": (SIX, replace(FOUR, name="six"))}, "two templates have one name"),
        ({"slots": (Slot("x", LETTERS),)}, "template 'six' has a slot {y} without words"),
    ],
)
def test_a_generator_that_does_not_fit_together_is_refused(change, sentence):
    """One sentence each."""
    with pytest.raises(DeclarationError, match=sentence):
        replace(GENERATOR, **change)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<BOS> {x}", "want the slot {opener} exactly once"),
        ("{opener} {opener}", "want the slot {opener} exactly once"),
        ("{opener} {x.y}", "has the slot {x.y}, want a plain name"),
        ("{opener} {", "template 'bad' is"),
    ],
)
def test_a_template_without_one_opener_is_refused(text, sentence):
    """Also one that Python's own formatting would read as an attribute."""
    with pytest.raises(DeclarationError, match=sentence):
        PromptTemplate("bad", text)


def test_a_slot_without_words_or_with_one_twice_is_refused():
    """Both would show up as repeated or missing prompts later."""
    for words in ((), ("A", "A")):
        with pytest.raises(DeclarationError, match="want some, all distinct"):
            Slot("x", words)


def test_an_opener_that_stands_twice_is_refused():
    """The answer would not be that of the only opener."""
    twice = templated(PromptTemplate("twice", "<BOS> {opener} {x} '"))
    with pytest.raises(DeclarationError, match='the opener "\'" is 2 tokens 9; want just one'):
        twice.order()


def test_an_opener_of_two_tokens_is_refused():
    """Its type could not be said by one token."""
    wide = replace(GENERATOR, answers=(("' '", "'"),))
    with pytest.raises(DeclarationError, match="is 2 tokens, want one"):
        wide.order()


def test_too_many_prompts_are_refused_before_they_are_made():
    """A sentence at once instead of minutes of hashing."""
    names = [f"s{place}" for place in range(10)]
    text = "<BOS> {opener} " + " ".join(f"{{{name}}}" for name in names)
    slots = tuple(Slot(name, LETTERS) for name in names)
    with pytest.raises(DeclarationError, match="the templates give 2097152 prompts, want at most 1000000"):
        replace(GENERATOR, templates=(PromptTemplate("wide", text),), slots=slots)


def test_a_pool_takes_the_same_fillings_with_every_opener():
    """The first by their hashes, which no model can influence."""
    some = replace(GENERATOR, pool=Pool(5, ("x",))).order()
    fillings = Counter((row.template, row.opener) for row in some)
    assert set(fillings.values()) == {5}
    without = {(row.template, row.opener): set() for row in some}
    for row in some:
        rest = tuple(token for place, token in enumerate(row.prompt) if place != row.position)
        without[row.template, row.opener].add(rest)
    for template in ("six", "four"):
        assert without[template, "'"] == without[template, '"']
    assert {row.prompt for row in some} <= {row.prompt for row in GENERATOR.order()}


def test_a_stratum_is_a_template_with_a_word():
    """Prompts are parted by the words of the slots that the pool names."""
    pooled = replace(GENERATOR, pool=Pool(64, ("x",)))
    rows = pooled.order()
    assert {row.stratum for row in rows} == {f"{name} / {x}" for name in ("six", "four") for x in LETTERS}
    assert pooled.digest != GENERATOR.digest


def test_a_row_says_its_text_and_whether_the_opener_is_a_token_of_it():
    """Alignment is measured: the text up to the opener's end must be the tokens up to the opener's."""
    for row in GENERATOR.order():
        assert row.text is not None
        assert GENERATOR.encoder.encode(row.text) == row.prompt
        assert row.position is not None
        assert TOY.names[row.prompt[row.position]] == row.opener
        assert row.is_aligned is True
    crooked = replace(GENERATOR, encoder=Swallowing(TOY))
    assert {row.is_aligned for row in crooked.order()} == {False}


class Swallowing(NamedTokens):
    """An encoder that reads the end of a text only with what follows."""

    def encode(self, text):
        """Return the tokens, without the last where the text ends with an opener behind something."""
        tokens = super().encode(text)
        ends_open = len(tokens) > 1 and text.split()[-1] in {"'", '"'}
        return tokens[:-1] if ends_open else tokens
