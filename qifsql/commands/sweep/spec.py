"""What is wanted of a sweep, and how it is to be worked on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from qifsql.adversary.options import Joining, Knowledge
from qifsql.data.option import (
    DETAILS,
    FLAG,
    RUN,
    SECONDS,
    SHARE,
    SIZES,
    TEXTS,
    Option,
)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """What is wanted of a sweep, and how it is to be worked on (see ``sweep``)."""

    sizes: str | None = None
    subsets: tuple[str, ...] = ()
    releases: bool = False
    threshold: float | None = None
    search: bool = False
    sample: float | None = None
    histogram: bool = False
    workspace: Path | None = None
    keep: bool = True
    restart: bool = False
    time_budget: float | None = None
    explain: bool = False
    tell: Tell = lambda _line: None

    def plain(self) -> dict[str, Any]:
        """What was asked beside the attack, as plain data for manifests."""
        return {
            "sizes": self.sizes,
            "subsets": list(self.subsets) or None,
            "releases": self.releases or None,
            "threshold": self.threshold,
            "search": self.search or None,
            "sample": self.sample,
        }


class SweepOptions(Knowledge, Joining, total=False):
    """Which subsets, what is asked about them, and how long the work may take."""

    sizes: Annotated[
        str | int | None,
        Option(form=SIZES, help="How many quasi-identifiers: 3, or 1-4 (default: every number)."),
    ]
    subsets: Annotated[
        str | Sequence[str],
        Option(
            form=TEXTS,
            help="Only this one: day+month+school. Repeatable.",
            flags=("--subset",),
        ),
    ]
    releases: Annotated[
        bool,
        Option(
            form=FLAG,
            help="Of a collection: the focal dataset with every set of auxiliary ones; which "
            "release made it worse.",
        ),
    ]
    threshold: Annotated[
        float | None,
        Option(
            form=SHARE,
            help="Show the smallest subsets whose success reaches that, the largest below it.",
            panel=DETAILS,
        ),
    ]
    search: Annotated[
        bool,
        Option(
            form=FLAG,
            help="Find only these, without visiting every subset; for many quasi-identifiers.",
        ),
    ]
    sample: Annotated[
        float | None,
        Option(
            form=SHARE,
            help="Estimate from about this share of the blocks, such as 0.01 (more of large ones), "
            "with errors at 95 % confidence.",
        ),
    ]
    histogram: Annotated[
        bool, Option(form=FLAG, help="Count people by success in percent.", panel=DETAILS)
    ]
    restart: Annotated[
        bool,
        Option(form=FLAG, help="Forget what the workspace holds.", panel=RUN, studied=False),
    ]
    time_budget: Annotated[
        float | None,
        Option(
            form=SECONDS,
            help="Stop after 90s, 10m or 2h and show what is complete; again to go on.",
            panel=RUN,
        ),
    ]
    explain: Annotated[
        bool,
        Option(
            form=FLAG,
            help="Show the plan with its estimated cost, and what it did cost.",
            panel=DETAILS,
            studied=False,
        ),
    ]


OPTIONS = SweepOptions
