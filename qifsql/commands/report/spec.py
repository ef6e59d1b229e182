"""Options of ``report``."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from qifsql.data.option import DATA, DETAILS, FILE, FLAG, LABELS, RUN, TEXT, TEXTS, WHOLE, Option
from qifsql.presentation.small_groups import MINIMUM
from qifsql.study.forms import Occasion


class ReportOptions(Occasion, total=False):
    """The words of a report, what it shows, and its charts."""

    lang: Annotated[str, Option(TEXT, "Language: en or pt-BR.", usual="en", panel=DETAILS)]
    title: Annotated[
        str | None,
        Option(
            TEXT,
            "Title of the report.",
            text="Title of the report; by default it names the dataset.",
            panel=DETAILS,
        ),
    ]
    people: Annotated[
        str,
        Option(
            TEXT,
            "Word for the people, such as pupils.",
            usual="",
            panel=DETAILS,
            flags=("--people-word",),
            formerly="--people",
        ),
    ]
    labels: Annotated[
        Mapping[str, str],
        Option(
            LABELS,
            'Rename a column: COLUMN="day of birth". Repeatable.',
            text='Other names of columns, such as {"NU_DIA": "day of birth"}.',
            panel=DETAILS,
            flags=("--label",),
        ),
    ]
    minimum: Annotated[
        int,
        Option(
            WHOLE,
            "Smallest group that is shown by itself.",
            text="Size of the smallest group that is shown, at least 1.",
            usual=MINIMUM,
            least=1,
            panel=DATA,
        ),
    ]
    statement: Annotated[
        bool,
        Option(
            FLAG,
            "Write a statement to sign, from a check of recipients.",
            text="Write a statement to sign (.html, .pdf, .md) from the results of one check of a "
            "policy with recipients.",
            panel=DATA,
        ),
    ]
    private: Annotated[
        bool,
        Option(
            FLAG,
            "Also show blocks, records and small groups; marks the report as confidential.",
            panel=DATA,
        ),
    ]
    name_groups: Annotated[
        str | Iterable[str],
        Option(
            TEXTS,
            "Name the groups by this column (--by) with its values, not with numbers. Repeatable.",
            text="Columns of by whose values name their groups; groups by other columns are "
            "numbered, and groups under the minimum are never named.",
            panel=DATA,
        ),
    ]
    charts: Annotated[
        str | Path | None, Option(FILE, "Draw charts to this folder (qifsql\\[charts]).", panel=RUN)
    ]
    chart_format: Annotated[str, Option(TEXT, "svg, html, png or json.", usual="svg", panel=RUN)]
