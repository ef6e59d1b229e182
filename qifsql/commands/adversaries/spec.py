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
    """The knowledge of adversaries, and the numbers about their success."""

    knows: Annotated[
        Knowledge,
        Option(
            TEXTS,
            'The chance that each attribute is known: "age=0.9,city=1"; *=0.1 for all '
            "others (default 0). NAME: in front names an adversary. Or a file: .toml of "
            "adversaries and their mixture, .csv of subsets (qids, weight). Repeatable.",
            text="The chance that each attribute is known, independently of the others: "
            '"age=0.9,city=1", or "neighbour: age=0.9" with a name; "*=0.1" is for all that '
            "are not named (0 by default). Or a TOML file with a table for each adversary "
            "and one for their mixture; a CSV file of sets and weights (columns qids, as in "
            'age+city, and weight); a dictionary such as {"age": 0.9} or {"neighbour": '
            '{"age": 0.9}}. Several in a list.',
        ),
    ]
    any: Annotated[
        str | int | None,
        Option(
            SIZES,
            "Any 3 of the attributes, each set equally likely; or 1-4 (default "
            "without --knows: every number).",
        ),
    ]
    attempt: Annotated[
        str | float | None,
        Option(
            CHANCE,
            "Chance that anybody tries, such as 0.05; all numbers are multiplied by it.",
            text="Chance in [0, 1] that anybody tries; all numbers of the frame are "
            "multiplied by it.",
        ),
    ]
    threshold: Annotated[
        str | float | None,
        Option(
            CHANCE,
            "Also show the chance that success is at least this.",
            text="Success in [0, 1] whose chance is computed.",
        ),
    ]


OPTIONS = AdversariesOptions
