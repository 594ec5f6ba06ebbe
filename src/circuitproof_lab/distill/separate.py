"""Which word a refuted candidate lacks: the token, position or distance that tells it from the head."""

from collections.abc import Sequence

import numpy as np

from circuitproof.programs.candidates import Language, NamedOperand
from circuitproof.programs.features import WordKind
from circuitproof.tasks.domain import Prompt
from circuitproof_lab.distill.attention import AttentionRecord
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.prefix_table import ByteRows


def separating_word(
    meanings: Meanings,
    record: AttentionRecord,
    place: int,
    read: Sequence[Prompt],
    words: Sequence[NamedOperand],
) -> NamedOperand:
    """Return the word to add, one of `words`, after a candidate was refuted at a prompt.

    Among the queries that were `read` it is taken from the pair of query and key at which candidate and head
    differ most and which has a word to offer; of several the one whose conditions cover best where the two
    supports differ on all prefixes. Where no pair has any, it is simply the first.
    """
    rows = meanings.rows([place])[0]
    for prefix, key in _differences(rows, record, read):
        if offered := [word for word in words if word in _words_at(prefix, key)]:
            wrong = (rows > 0) != (record.weights > 0)
            return max(offered, key=lambda word: _coverage(meanings, word, wrong.astype(np.uint8)))
    return words[0]


def _differences(rows: ByteRows, record: AttentionRecord, read: Sequence[Prompt]) -> list[tuple[Prompt, int]]:
    """Return the pairs of a read query and a key whose weights differ, the largest difference first."""
    columns = record.prefix_table.columns()
    weights = rows / np.maximum(rows.sum(0), 1)
    gaps = [
        (-round(abs(float(weights[key, columns[prefix]] - record.weights[key, columns[prefix]])), 6), n, key)
        for n, prefix in enumerate(read)
        for key in range(len(prefix))
    ]
    return [(read[n], key) for gap, n, key in sorted(gaps) if gap]


def _words_at(prefix: Prompt, key: int) -> frozenset[NamedOperand]:
    query = len(prefix) - 1
    tokens = {NamedOperand(WordKind.TOKEN, prefix[place]) for place in (query, key)}
    positions = {NamedOperand(WordKind.POSITION, place) for place in (query, key)}
    return frozenset({*tokens, *positions, NamedOperand(WordKind.DISTANCE, query - key)})


def _coverage(meanings: Meanings, word: NamedOperand, wrong: ByteRows) -> float:
    """Return the best intersection over union of a word's conditions with the pairs that are wrong."""
    wordless = frozenset(Language(meanings.grammar, ()).singles())
    own = [one for one in Language(meanings.grammar, (word,)).singles() if one not in wordless]
    queries = meanings.prefix_table.queries
    shares = [0.0]
    for mask in map(meanings.mask, own):
        either = float(((mask | wrong) @ queries).sum())
        shares.append(float(((mask & wrong) @ queries).sum()) / either if either else 0.0)
    return max(shares)
