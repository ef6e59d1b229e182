"""The risks of re-identification of the adversaries in statistical disclosure control.

Sources: PoPETs section 2.1 (after El Emam); thesis section 2.4. All are probabilities.
"""


def highest(least: int | None) -> float | None:
    """Return the largest chance that a link to one person is right: 1 / n of the smallest block.

    ``least`` is the size of that block. Counted in records of the release, for a person who is
    known to be there, the result is the prosecutor's risk; counted in people of the population,
    over blocks that have people of the release, it is the journalist's risk. It is above 0 and at
    most 1; NULL if there is no block.
    """
    return None if least is None else 1 / least


def marketer(expected: float, people: int) -> float:
    """Return the share of people who are linked correctly: the ``expected`` number over all people.

    If only the block distinguishes people, one link in each block is expected to be correct; for a
    release of a population it is min(f, F) / max(f, F), with f and F people in the block. The
    result is from 0 to 1, never NULL.
    """
    return expected / people
