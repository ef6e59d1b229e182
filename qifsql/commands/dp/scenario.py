"""Classify the data into one of the four scenarios of the thesis (Example 33), from counts.

A: useful attribute and secret can be inferred from each other; B: they are lowly correlated; C:
only the secret can be inferred; D: only the useful attribute.

The thesis names scenarios by example. Here they are measured by the share of the uncertainty about
one attribute that knowing the other removes, 1 - H(S|U)/H(S) (Theil's uncertainty coefficient;
thesis appendix B for the entropies). An attribute can be inferred from 0.9 on; the correlation is
low if both shares are below 0.1. All other data are outside the four scenarios.
"""

import polars as pl

from qifsql.commands.dp.count import Counts
from qifsql.commands.dp.spec import CORRELATED, INFERRED, LOW
from qifsql.measures.channel_measures import entropy

SCENARIO: dict[str, pl.DataType] = {
    **dict.fromkeys(("scenario", "correlation"), pl.String()),
    **dict.fromkeys(("secret_from_useful", "useful_from_secret", "entropy_secret"), pl.Float64()),
    **dict.fromkeys(("entropy_useful", "mutual_information"), pl.Float64()),
    **dict.fromkeys(("records", "useful_values", "secret_values", "places"), pl.Int64()),
}
"""One row. ``secret_from_useful`` and ``useful_from_secret`` are the shares of uncertainty removed,
0 to 1. Entropies are in bits. ``places`` is the number of values of the useful attribute between
which noise moves, NULL if noise is only on counts."""


def scenario(counts: Counts) -> pl.DataFrame:
    """Return the scenario of the data (``SCENARIO``); its letter is NULL outside the four."""
    extent = counts.extent
    secret, useful, both = (entropy(counts.spectra[part]) for part in ("secret", "useful", "both"))
    shared = max(0.0, secret + useful - both)
    # as many pairs as values of one attribute: each of these values decides the other attribute
    decides_secret = extent.pairs == extent.useful_values
    decides_useful = extent.pairs == extent.secret_values
    secret_removed = 1.0 if decides_secret else min(1.0, shared / secret)
    useful_removed = 1.0 if decides_useful else min(1.0, shared / useful)
    letter = _classify(secret_removed, useful_removed)
    row = {
        "scenario": letter,
        "correlation": CORRELATED.get(letter or "", "partly correlated"),
        "secret_from_useful": secret_removed,
        "useful_from_secret": useful_removed,
        "entropy_secret": secret,
        "entropy_useful": useful,
        "mutual_information": shared,
        "records": extent.records,
        "useful_values": extent.useful_values,
        "secret_values": extent.secret_values,
        "places": len(counts.people) or None,
    }
    return pl.DataFrame([row], schema=SCENARIO)


def _classify(secret_removed: float, useful_removed: float) -> str | None:
    """Return the letter of the scenario, by the shares of uncertainty removed; None: of none."""
    if secret_removed >= INFERRED:
        return "A" if useful_removed >= INFERRED else "C"
    if useful_removed >= INFERRED:
        return "D"
    return "B" if max(secret_removed, useful_removed) < LOW else None
