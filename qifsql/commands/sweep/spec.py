"""Options of ``sweep``, and the subsets that they name."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Annotated, Any

from qifsql.adversary.options import Joining, Knowledge, Sets
from qifsql.data.option import DETAILS, FLAG, RUN, SECONDS, SHARE, SIZES, TEXT, TEXTS, Option
from qifsql.errors import InputError, plural, quoted

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SweepSpec:
    """Settings of a sweep other than the attack: subsets, sample, workspace (see ``sweep``)."""

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
    walk: str = "auto"
    tell: Tell = lambda _line: None

    @classmethod
    def of(cls, options: Mapping[str, Any], **run: Any) -> "SweepSpec":
        """Return the settings of a sweep: those among its ``options`` by name, else the defaults.

        ``run`` has the fields that are no option: workspace, keep, tell. Raises InputError if a
        value is out of range, or two exclude each other.
        """
        settings = {name: options[name] for name in cls.__dataclass_fields__ if name in options}
        sizes, subsets = settings.get("sizes"), settings.get("subsets") or ()
        settings["sizes"] = None if sizes is None else str(sizes)
        settings["subsets"] = (subsets,) if isinstance(subsets, str) else tuple(subsets)
        spec = cls(**settings, **run)
        threshold, budget = spec.threshold, spec.time_budget
        if threshold is not None and not 0 <= threshold <= 1:
            raise InputError("a threshold (--threshold) is a success, from 0 to 1")
        if spec.search and threshold is None:
            raise InputError(
                "a search looks for subsets that reach a success; say which: --threshold"
            )
        if spec.releases and (sizes is not None or subsets or spec.search or spec.sample):
            raise InputError(
                "releases are sets of datasets; leave sizes, subsets, search, sample out"
            )
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int | float)):
            problem = f"time_budget is a number of seconds, and {quoted(str(budget))} is none"
            raise InputError(problem)
        return spec


class SweepOptions(Knowledge, Sets, Joining, total=False):
    """Options of ``sweep``: the adversary, the subsets, and the time budget.

    A sample draws the blocks of the first attribute if it has many values: large ones more often,
    the largest always (``qifsql.commands.sweep.samples``). All else is exact.
    """

    sizes: Annotated[
        str | int | None, Option(SIZES, "Sizes of subsets: 3 or 1-4 (default: all sizes).")
    ]
    subsets: Annotated[
        str | Sequence[str],
        Option(
            TEXTS, "Attack only this subset: day+month+school. Repeatable.", flags=("--subset",)
        ),
    ]
    releases: Annotated[
        bool,
        Option(
            FLAG,
            "Collection: attack with every set of auxiliary datasets; shows which "
            "release adds risk.",
        ),
    ]
    threshold: Annotated[
        float | None,
        Option(
            SHARE,
            "Show minimal subsets with success >= this, and maximal subsets below it.",
            text="Success in [0, 1] that separates risky from safe subsets.",
            panel=DETAILS,
        ),
    ]
    search: Annotated[
        bool, Option(FLAG, "With --threshold: search for these without visiting every subset.")
    ]
    sample: Annotated[
        float | None,
        Option(
            SHARE,
            "Estimate from this share of blocks, such as 0.01, with 95 % confidence errors.",
            text="Estimate from this share of the blocks, in (0, 1]; adds "
            "error_deterministic and error_probabilistic, half-widths at 95 % confidence.",
        ),
    ]
    histogram: Annotated[
        bool, Option(FLAG, "Histogram of people by success in percent.", panel=DETAILS)
    ]
    restart: Annotated[
        bool, Option(FLAG, "Discard the checkpoint and start over.", panel=RUN, studied=False)
    ]
    time_budget: Annotated[
        float | None,
        Option(
            SECONDS,
            "Stop after 90s, 10m or 2h and report the finished subsets; run again to resume.",
            text="Seconds after which nothing more is begun.",
            panel=RUN,
        ),
    ]
    explain: Annotated[
        bool,
        Option(
            FLAG,
            "Show the plan with estimated and actual cost.",
            text='Report the plan with estimated and actual seconds (details["plan"]).',
            panel=DETAILS,
            studied=False,
        ),
    ]
    walk: Annotated[
        str,
        Option(
            TEXT,
            "auto (compiled if qifsql[fast] is installed and it pays), sql or compiled.",
            text='"auto": compiled if qifsql[fast] is installed and the people, or the '
            'subsets, are so many that it pays; "sql"; "compiled". The numbers are the '
            'same. Where "compiled" is asked for and cannot take the data, the walk is in '
            "SQL, and a note says so.",
            panel=RUN,
            studied=False,
        ),
    ]


OPTIONS = SweepOptions


@dataclass(frozen=True)
class Sizes:
    """The subsets of ``n`` attributes that have ``least`` to ``greatest`` of them."""

    n: int
    least: int
    greatest: int

    @property
    def every_subset(self) -> bool:
        """Return whether every subset is included."""
        return self.least <= 1 and self.greatest == self.n

    @property
    def subsets(self) -> int:
        """Return the number of subsets."""
        return sum(comb(self.n, size) for size in self.range)

    @property
    def range(self) -> range:
        """Return the sizes."""
        return range(self.least, self.greatest + 1)

    def numbers(self) -> Iterator[int]:
        """Yield the subsets as numbers, the smaller first: bit i stands for the i-th attribute."""
        for size in self.range:
            yield from sorted(sum(1 << i for i in c) for c in combinations(range(self.n), size))


def parse_sizes(text: str | None, n: int) -> Sizes:
    """Return the subsets of ``n`` attributes with sizes such as ``3`` or ``1-4``; None: all."""
    if text is None:
        return Sizes(n, 1, n)
    match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
    least, greatest = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= least <= greatest:  # or there is no match
        raise InputError(f"sizes are written 2 or 1-4, from 1 on, not {quoted(text)}")
    if least > n:
        raise InputError(f"of {plural(n, 'quasi-identifier')} no subset has {least}")
    return Sizes(n, least, min(greatest, n))
