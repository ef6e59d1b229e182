"""What can be asked of an attack."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from qifsql.adversary.options import Options
from qifsql.data.dataset import Dataset
from qifsql.data.option import CHANCE, DETAILS, FLAG, NAMES, RUN, TEXT, TEXTS, Option


class AttackOptions(Options, total=False):
    """The adversary, further measures and details, and links between releases without a key.

    ``link``, ``presence``, ``truth`` and ``one_to_one`` are about releases without a person key.
    """

    measures: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="More measures: shannon, guessing, capacity, risks, or all (see qifsql explain).",
            panel=DETAILS,
        ),
    ]
    histogram: Annotated[
        bool, Option(form=FLAG, help="Count people by success in percent.", panel=DETAILS)
    ]
    unit: Annotated[
        str | None,
        Option(form=TEXT, help="The unit of the gains, such as BRL.", panel=DETAILS),
    ]
    population: Annotated[
        str | Path | Dataset | None,
        Option(
            form=TEXT,
            help="A file of everybody who may be in the release: for membership, joined by the "
            "key; else for the journalist's risk.",
            panel=DETAILS,
        ),
    ]
    progressive: Annotated[
        bool,
        Option(
            form=FLAG,
            help="A row for the focal dataset alone, then for each auxiliary one more.",
            panel=DETAILS,
        ),
    ]
    store: Annotated[
        str | Path | None,
        Option(
            form=TEXT,
            help="Keep the counts in this DuckDB file; asked again, the data are not read again. "
            "It holds values of cells; only you can read it.",
            panel=RUN,
        ),
    ]
    link: Annotated[
        str | Sequence[str] | None,
        Option(
            form=TEXTS,
            help='No person key: columns that stay ("sex,birth_date") and that may change '
            '("age:+1; city:stay=0.93; city:stay=?; school:table=moves.csv"). Repeatable.',
        ),
    ]
    presence: Annotated[
        float | str | None,
        Option(
            form=CHANCE,
            help="With --link: the chance that a person of one release is in the next (1).",
        ),
    ]
    truth: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="With --link: the key that tells who is who, to compare links with.",
        ),
    ]
    one_to_one: Annotated[
        bool,
        Option(
            form=FLAG,
            help="With --link: a record of a later release is of one person at most, so that "
            "people compete for it (belief propagation).",
        ),
    ]


OPTIONS = AttackOptions
