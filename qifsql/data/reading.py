"""The reading of a file: options declared once for Python, the command line and studies."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypedDict

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.dates import ORDERS as DATE_ORDERS
from qifsql.data.option import (
    DATA,
    FLAG,
    TEXT,
    WHOLE,
    Form,
    Option,
    as_tuple,
    declared,
    is_text,
    values,
)

_Option = partial(Option, panel=DATA)
WORDS = Form("a text in quotes or a list of them", values(is_text), nothing=())
"""Words for missing values: ``NA,.,-9`` or ``income=-9``; an empty text is a word, too."""
ORDER = Form('"dmy", "mdy" or "ymd"', lambda content: content if content in DATE_ORDERS else None)
"""The order of day, month and year in dates."""


class Reading(TypedDict, total=False):
    """Options of reading a file."""

    all_varchar: Annotated[
        bool,
        _Option(
            FLAG,
            "CSV, SPSS, Stata: as text, with labels.",
            text="CSV, SPSS, Stata, SAS: read every column as text; labels of values stand for "
            "their codes (male for 1).",
        ),
    ]
    delimiter: Annotated[
        str | None,
        _Option(
            TEXT,
            "CSV: field separator, such as ;.",
            text="CSV: field separator; by default detected.",
        ),
    ]
    encoding: Annotated[
        str | None,
        _Option(
            TEXT,
            "CSV: encoding, such as cp1252 (default utf-8).",
            text="CSV: a name that Python knows, such as cp1252 (Excel on Windows), latin-1 or "
            "utf-16; by default UTF-8, or UTF-16 if the file begins with its mark.",
        ),
    ]
    decimal: Annotated[
        str | None,
        _Option(
            TEXT,
            "CSV: decimal mark, such as , (default .).",
            text="CSV: decimal mark of numbers, a comma or a point (default).",
        ),
    ]
    skip: Annotated[
        int | None,
        _Option(
            WHOLE,
            "CSV, Excel: lines above the names.",
            text="CSV, Excel: number of lines above the names of columns that are not read "
            "(default 0).",
        ),
    ]
    header_rows: Annotated[
        int | None,
        _Option(
            WHOLE,
            "CSV, Excel: rows of the header (default 1).",
            text="CSV, Excel: number of rows of the header (default 1). A column has the first "
            "name that is not empty in them.",
        ),
    ]
    date_order: Annotated[
        str | None,
        _Option(
            ORDER,
            "CSV: dates are dmy (07/04/1980), mdy or ymd.",
            text='CSV: order of day, month and year in dates with a year of four digits: "dmy" '
            '(07/04/1980 is 7 April), "mdy" or "ymd". By default found in the file, with day '
            "first where both fit.",
        ),
    ]
    na: Annotated[
        str | Sequence[str],
        _Option(
            WORDS,
            "Words that mean missing: NA,.,-9; income=-9.",
            text="Words for missing values, in all columns (NA,.,-9) or in one (income=-9). "
            "An empty text is a word, too. Columns are typed without them.",
        ),
    ]


NAMES = tuple(declared(Reading))
"""The options of reading, as keys of studies."""


def of_files(datasets: Iterable[Dataset | Collection]) -> dict[str, object]:
    """Return how several files are read, as plain data for manifests."""
    files = [d for d in datasets if isinstance(d, Dataset)]
    csv = [{"name": d.name, **d.csv} for d in files if d.csv]
    na = {d.name: list(d.na) for d in files if d.na}
    return {"csv": csv, **({"na": na} if na else {})}


def typed(options: Mapping[str, Any]) -> list[str]:
    """Return options of reading as they are typed on the command line.

    >>> typed({"delimiter": ";", "na": ["NA", ""]})
    ['--delimiter', ';', '--na', 'NA', '--na', '']
    """
    words: list[str] = []
    for name in NAMES:
        flag, value = f"--{name.replace('_', '-')}", options.get(name)
        if value is True:
            words.append(flag)
        elif name == "na":
            words += [word for text in as_tuple(value) for word in (flag, text)]
        elif value:
            words += [flag, str(value)]
    return words
