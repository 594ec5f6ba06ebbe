import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import parse_json, reading
from circuitproof.tasks.domain import Domain, read_domain
from strategies import domains


def read(content: object) -> Domain:
    """Read a domain to its last key."""
    with reading(content, "domain") as fields:
        return read_domain(fields)


@given(domains())
def test_a_domain_reads_back_from_its_canonical_json(domain):
    """The prompts of a claim are all there, in their order."""
    assert read(parse_json(canonical_json(domain.to_json()), "domain")) == domain


@given(domains(), st.randoms())
def test_the_digest_pins_prompts_strata_and_order(domain, random):
    """Another order is another file: certificates refer to prompts by index."""
    order = list(range(len(domain)))
    random.shuffle(order)
    shuffled = Domain(
        tuple(domain.prompts[index] for index in order), tuple(domain.strata[index] for index in order)
    )
    assert (shuffled.digest == domain.digest) == (shuffled == domain)
    assert Domain(domain.prompts, (*domain.strata[:-1], domain.strata[-1] + "x")).digest != domain.digest


@given(domains())
def test_the_strata_share_out_the_prompts(domain):
    """Each prompt is in one stratum, so the sizes add up."""
    sizes = domain.sizes()
    assert sum(sizes.values()) == len(domain) == len(domain.prompts)
    assert all(sizes[stratum] == domain.strata.count(stratum) for stratum in domain.strata)
    assert list(sizes) == sorted(sizes, key=domain.strata.index)


@given(domains())
def test_the_longest_prompt_bounds_all_and_is_there(domain):
    """A model's context must hold every prompt, and need not hold more."""
    assert domain.longest in {len(prompt) for prompt in domain.prompts}
    assert all(len(prompt) <= domain.longest for prompt in domain.prompts)


def test_an_empty_domain_is_refused():
    """Everything holds for all of no prompts; the reference code calls that verified."""
    with pytest.raises(DeclarationError, match="no prompts; a claim about an empty domain says nothing"):
        Domain((), ())


@pytest.mark.parametrize("strata", [(), ("a",), ("a", "b", "c")])
def test_each_prompt_has_one_stratum(strata):
    """A list that is too short or too long would shift every later prompt."""
    with pytest.raises(DeclarationError, match=f"{len(strata)} strata for 2 prompts; give each prompt one"):
        Domain(((1,), (2,)), strata)


def test_a_repeated_prompt_is_refused():
    """A prompt listed twice would be counted twice; the sentence says which two."""
    with pytest.raises(DeclarationError, match=r"prompts 1 and 3 are both \(2, 5\); list each prompt once"):
        Domain(((1,), (2, 5), (3,), (2, 5)), ("a", "a", "b", "b"))


@pytest.mark.parametrize("prompt", [(), (-1,), (3, -2, 5)])
def test_a_prompt_has_tokens_and_none_is_negative(prompt):
    """An empty prompt has no last position to decide at; a negative token would be read from the end."""
    with pytest.raises(DeclarationError, match=r"prompt 1 is .*, want at least one token, none negative"):
        Domain(((1,), prompt), ("a", "a"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"strata": []}, r"domain\.prompts is missing"),
        ({"prompts": [[1]]}, r"domain\.strata is missing"),
        ({"prompts": [[1]], "strata": ["a"], "digest": ""}, r"domain\.digest is not a known key"),
        ({"prompts": [[1], 2], "strata": []}, r"domain\.prompts\[1\] is the number 2, want a list"),
        ({"prompts": [[1, True]], "strata": []}, r"domain\.prompts\[0\]\[1\] is true, want a whole number"),
        ({"prompts": [[1]], "strata": [1]}, r"domain\.strata\[0\] is the number 1, want a string"),
    ],
)
def test_a_fault_in_the_file_is_told_where_it_stands(content, sentence):
    """The path in the sentence is the path in the file."""
    with pytest.raises(InputError, match=f"^{sentence}"):
        read(content)
