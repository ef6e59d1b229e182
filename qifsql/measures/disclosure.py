"""The risks of re-identification by which statistical disclosure control names adversaries.

Sources: PoPETs section 2.1 (after El Emam); thesis section 2.4. All are probabilities.
"""


def highest(least: int | None) -> float | None:
    """Return the largest chance that a link to one person is right: 1 / n of the smallest block.

    The prosecutor's risk where ``least`` are the records of the release in it, whose person is
    known to be there; the journalist's where they are those of the population, in the blocks
    that have people of the release. Above 0 to 1; NULL if there is no block.
    """
    return None if least is None else 1 / least


def marketer(expected: float, people: int) -> float:
    """Return the share of people that are linked right: the ``expected`` links over all of them.

    Of people whom nothing but their block tells apart one link in each block is expected to be
    right; of a release in a population min(f, F) / max(f, F) for f and F people of the block.
    From 0 to 1, never NULL.
    """
    return expected / people
