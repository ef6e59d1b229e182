"""The fewest cells that local suppression can do with: all maskings are tried."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations_with_replacement, product

Record = Sequence[Hashable]


def fewest_suppressed_cells(records: Sequence[Record], k: int) -> int:
    """Return the fewest cells to suppress so that k records or none have equal cells (M201).

    A suppressed cell is a value of its own. There must be at least k records. The time grows
    exponentially with the number of cells.
    """
    classes = Counter(map(tuple, records))
    masks = list(product((False, True), repeat=len(records[0])))
    maskings = [combinations_with_replacement(masks, people) for people in classes.values()]
    fewest = len(records) * len(records[0])  # all cells
    for masking in product(*maskings):
        published = Counter(
            tuple("*" if hidden else (cell,) for cell, hidden in zip(record, mask, strict=True))
            for record, of_class in zip(classes, masking, strict=True)
            for mask in of_class
        )
        if min(published.values()) >= k:
            hidden = sum(people * cells.count("*") for cells, people in published.items())
            fewest = min(fewest, hidden)
    return fewest
