"""Options of ``adversaries``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from qifsql.data.option import CHANCE, SIZES, TEXTS, Option

Probabilities = Mapping[str, float | str]
"""The probability of each attribute that it is known."""
Knowledge = str | Path | Sequence[str | Path] | Probabilities | Mapping[str, Probabilities]
"""Texts, files, the probabilities of one adversary, or those of several by name."""


class AdversariesOptions(TypedDict, total=False):
    """The knowledge of adversaries, and the numbers about their success.

    ``knows``: probabilities of attributes, or a file of them. ``any``: any so many of the
    attributes. ``attempt``: the chance that anybody tries. ``threshold``: a success whose chance is
    computed.
    """

    knows: Annotated[
        Knowledge,
        Option(
            form=TEXTS,
            help='The chance that each attribute is known: "age=0.9,city=1"; *=0.1 for all others '
            "(default 0). NAME: in front names an adversary. Or a file: .toml of adversaries and "
            "their mixture, .csv of subsets (qids, weight). Repeatable.",
        ),
    ]
    any: Annotated[
        str | int | None,
        Option(
            form=SIZES,
            help="Any 3 of the attributes, each set equally likely; or 1-4 (default without "
            "--knows: every number).",
        ),
    ]
    attempt: Annotated[
        str | float | None,
        Option(
            form=CHANCE,
            help="Chance that anybody tries, such as 0.05; all numbers are multiplied by it.",
        ),
    ]
    threshold: Annotated[
        str | float | None,
        Option(form=CHANCE, help="Also show the chance that success is at least this."),
    ]


OPTIONS = AdversariesOptions
