"""Success against people of whom the adversary knows one record, each of the records as likely.

A block holds the records that are alike, and as many people as have one among them.
"""

from fractions import Fraction

import polars as pl

from qifsql.measures.bayes import Success


def success(profile: pl.DataFrame, certain: int, guesses: pl.DataFrame | None = None) -> Success:
    """Return the success at naming the person, or her secret (M188, M189).

    ``profile`` is the view ``known_profile``: ``size`` people per block, of whom ``mode`` have the
    most frequent of ``values`` secrets, and the ``records`` of all such blocks. Shares are of
    records. ``certain`` people have a record in a block of one secret. ``guesses`` are the blocks
    of the same records in which guesses count on average, if others: suppressed records then have
    a block of their own.
    """
    rows = profile.select("records", "mode", "size", "values").rows()
    total = sum(records for records, *_ in rows)
    alone = sum(records for records, _, _, values in rows if values == 1)
    averaged = (profile if guesses is None else guesses).select("records", "mode", "size").rows()
    guessed = sum(Fraction(records * mode, size) for records, mode, size in averaged)
    worst = max((mode / size for _, mode, size, _ in rows), default=0.0)
    return Success(Fraction(alone, total), Fraction(guessed) / total, worst, certain)
