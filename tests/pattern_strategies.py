"""Random patterns of prompts, each valid by construction."""

from hypothesis import strategies as st

from circuitproof.tasks.patterns import (
    ANY,
    Alternation,
    CountClause,
    Only,
    Pattern,
    Repeat,
    Sequence,
    TokenClass,
    longest_of,
)

members = st.sets(st.integers(0, 9), min_size=1, max_size=3).map(lambda found: tuple(sorted(found)))
classes = st.one_of(
    st.just(ANY), members.map(TokenClass), members.map(lambda m: TokenClass(m, is_complement=True))
)


def flat(kind, parts):
    """Join shapes without nesting a kind in itself."""
    joined = tuple(one for part in parts for one in (part.parts if isinstance(part, kind) else (part,)))
    return kind(joined)


def repeats(part):
    """Draw how often a part comes."""
    most = st.one_of(st.none(), st.integers(1, 5))
    bounds = st.tuples(st.integers(0, 3), most).filter(lambda b: b[1] is None or b[0] <= b[1])
    return st.builds(lambda one, b: Repeat(one, *b), part, bounds)


shapes = st.recursive(
    classes,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: flat(Sequence, parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: flat(Alternation, parts)),
        repeats(inner),
    ),
    max_leaves=5,
)
clauses = st.one_of(
    st.builds(
        lambda of, a, b: CountClause(of, min(a, b), max(a, b)), classes, st.integers(0, 4), st.integers(0, 4)
    ),
    st.builds(lambda of, least: CountClause(of, least, None), classes, st.integers(0, 4)),
    st.builds(lambda of, a, b: Only(of, min(a, b), max(a, b)), classes, st.integers(0, 4), st.integers(0, 4)),
)


@st.composite
def patterns(draw):
    """Draw a pattern."""
    shape = draw(shapes)
    longest = draw(st.integers(1, min(longest_of(shape) or 9, 9)))
    return Pattern(shape, tuple(draw(st.lists(clauses, max_size=2))), longest)


def all_prompts(machine) -> list[tuple[int, ...]]:
    """Return every prompt of an automaton, in the order of the atoms and of the tokens in them."""

    def walk(prompt, state):
        for atom, tokens in enumerate(machine.atoms):
            after = machine.step(state, atom, len(prompt)) if len(prompt) < machine.pattern.longest else None
            for token in tokens if after is not None else ():
                if machine.accepts(after):
                    yield (*prompt, token)
                yield from walk((*prompt, token), after)

    return list(walk((), machine.start))
