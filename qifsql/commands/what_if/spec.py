"""Options of ``what-if``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from qifsql.adversary import options
from qifsql.adversary.options import HIERARCHY, SECRET
from qifsql.data.option import TEXT, TEXTS, Option


class WhatIfOptions(TypedDict, total=False):
    """Options of ``what-if``: the changes, and the bounds to reach.

    ``change``: one or several (``qifsql.counting.changed_attributes``): ``age:5``,
    ``date:month``, ``age:@2``, ``drop=zip``, ``top(age)=90``, ``age=EXPRESSION``, ``sample=0.1``.
    Changes of one quasi-identifier are applied one after the other. ``until``: bounds such as
    ``crs<=0.1`` or ``k>=5`` (``qifsql.study.bounds``). ``policy``: a file of
    ``qifsql.study.policy``; its rules are bounds, and its adversary is used if none is named here.
    With bounds, the result is the smallest change that keeps all of them
    (``qifsql.commands.what_if.smallest_change``). The named changes are then the rungs of ladders,
    finest first; each is applied to the original values. ``hierarchies``: quasi-identifier -> file.
    """

    qids: Annotated[
        str | Sequence[str],
        options.qids_option("Quasi-identifiers: columns, CO_*, NAME=EXPRESSION."),
    ]
    secret: Annotated[str | Sequence[str], SECRET]
    change: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Change: drop=zip, age:5, date:month, zip:3, age:@2 (hierarchy level), "
            "top(age)=90, bottom(age)=18, age=EXPRESSION, sample=0.1. Repeatable.",
            flags=("--change", "-c"),
        ),
    ]
    until: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Find the smallest change that keeps a bound: crs<=0.1, "
            "cas(SECRET)<=0.8, crs.deterministic<=0.05, k>=5, l>=2; only among "
            "--change, if given. Repeatable.",
        ),
    ]
    policy: Annotated[
        str | Path | None,
        Option(TEXT, "Find the smallest change that meets a policy, as in check."),
    ]
    hierarchies: Annotated[Mapping[str, str | Path] | None, HIERARCHY]
