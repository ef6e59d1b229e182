"""Notes that stand with the numbers of an attack: what is counted, and what a value may mean."""

import shlex
from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.adversary.models import Model
from qifsql.adversary.names import Attributes
from qifsql.adversary.spec import Attack, Attribute, Microdata
from qifsql.data.column_questions import Catalog, Repeated, Spelling
from qifsql.data.expressions import identifier, source_columns
from qifsql.data.missing import option_text
from qifsql.data.types import generalised
from qifsql.errors import plural, quoted

RECORDS_COUNTED = "records are counted, not people"
COUNT_PEOPLE = (
    "attack, sweep, levels, check, compare, describe, anonymise, inspect, suda, estimate and "
    "synthetic"
)
"""The commands that take people with several records."""
MOST_CATEGORIES = 1_000  # texts of a column of categories
HOUSEHOLDS = "people live together"
NAMES_OF_PEOPLE = "look like names of people"


def notes_of_people(microdata: Microdata) -> tuple[str, ...]:
    """Return the notes but those that records are counted, for results about people."""
    return tuple(note for note in microdata.notes if not note.startswith(RECORDS_COUNTED))


def of_records(repeated: Repeated, *, here: bool = False) -> str:
    """Return the note that a column numbers people, and records are counted.

    ``here``: the command that shows the note takes ``--person``. In large files records are not
    counted: ``repeated.records`` is 0.
    """
    column = shlex.quote(repeated.column)
    way = f"count people with --person {column}"
    if not here:
        way = (
            f"{COUNT_PEOPLE} count people with --person {column}, and qifsql anonymise --one-per "
            f"{column} writes one record per person"
        )
    return f"{RECORDS_COUNTED}: {quoted(repeated.column)} has {_repetition(repeated)}; {way}"


def _repetition(repeated: Repeated) -> str:
    """Return how many values are in how many records (0 records: not counted in large files)."""
    if not repeated.records:
        return "the same value in several records"
    return f"{plural(repeated.values, 'value')} in {plural(repeated.records, 'record')}"


def of_household(repeated: Repeated) -> str:
    """Return the note that a column numbers households."""
    return (
        f"{HOUSEHOLDS}: {quoted(repeated.column)} has {_repetition(repeated)}, and who finds one "
        "member has found the others; attack, check and estimate measure that with "
        f"--household {shlex.quote(repeated.column)}"
    )


def of_names(column: Repeated) -> str:
    """Return the note on a column that looks like names of people, which no number is about."""
    numbers = f"{_repetition(column)}," if column.records else "values"
    return (
        f"{quoted(column.column)} has {numbers} whose texts {NAMES_OF_PEOPLE}, which tell who it "
        "is; the numbers here leave it out: remove it before you publish"
    )


def of_words(
    attack: Attack, catalog: Catalog, attributes: Attributes, where: exp.Expr | None
) -> tuple[str, ...]:
    """Return a note on each column with words that often mean missing, such as ``NA``.

    If a missing value is a value like others, the first records of a large file are looked at.
    """
    if attack.of_collection:
        return ()
    is_value = attack.null == "distinct" and not attack.any_value
    columns = [a.expression.name for a in attributes if isinstance(a.expression, exp.Column)]
    notes = []
    words_of_columns = catalog.usual_words(columns, where, of_first=is_value)
    for name, (words, n, is_part) in words_of_columns.items():
        records = f"at least {plural(n, 'record')}" if is_part else plural(n, "record")
        notes.append(
            f"{quoted(name)} has {_listed_words(words)} in {records}, which is a value here and "
            "not missing: if it means missing, say so with --na "
            f"{shlex.quote(option_text(name, words))}"
        )
    return tuple(notes)


def of_lost_words(catalog: Catalog, columns: Sequence[str], where: exp.Expr | None) -> list[str]:
    """Return a note on each column of a release with words that often mean missing.

    An adversary who knows raw values takes such a cell for any value, as no raw value is in it.
    """
    notes = []
    for name, (words, *_) in catalog.usual_words(columns, where).items():
        notes.append(
            f"{quoted(name)} has {_listed_words(words)}: a value in the view cells, and in the "
            "view compatible any value, unless somebody has it as a raw value; if it means "
            f"missing, say so with --na {shlex.quote(option_text(name, words))}"
        )
    return notes


def _listed_words(words: Sequence[str]) -> str:
    return ", ".join(quoted(word) if word else "the empty text" for word in words)


def of_spellings(
    attack: Attack, catalog: Catalog, attributes: Attributes, where: exp.Expr | None
) -> tuple[str, ...]:
    """Return a note on each column of categories that are equal but for case or blanks.

    They are different values: ``Male``, ``male`` and ``male `` are three. Another note is on
    columns of CSV whose texts are decimal numbers.
    """
    if attack.of_collection:
        return ()
    columns = [a.expression.name for a in attributes if isinstance(a.expression, exp.Column)]
    spellings = catalog.spellings(columns, where)
    decimal = getattr(attack.dataset, "decimal", None)
    notes = [of_decimals([n], decimal) for n, spelling in spellings.items() if spelling.decimals]
    return (*notes, *of_categories(spellings))


def of_categories(spellings: Mapping[str, Spelling]) -> tuple[str, ...]:
    """Return a note on each column whose texts are fewer without case and blanks at both ends."""
    return tuple(
        f"{quoted(name)} has {texts.values:,} values, which are {texts.folded:,} without case and "
        "blanks at both ends; each counts as a value of its own, and an expression makes them one, "
        f"as in NAME=lower(trim({identifier(name).sql('duckdb')}))"
        for name, texts in spellings.items()
        if texts.folded < texts.values <= MOST_CATEGORIES
    )


def of_decimals(names: Sequence[str], decimal: str | None) -> str:
    """Return the note on columns of CSV whose texts are numbers; ``decimal`` is the mark named."""
    listed, field = ", ".join(map(quoted, names)), identifier(names[0]).sql("duckdb")
    expression = f"NAME=try_cast(replace(replace({field}, '.', ''), ',', '.') AS DOUBLE)"
    if decimal != ",":
        return (
            f"{listed}: most values are numbers with commas or points between thousands, which are "
            "text; if the comma is the decimal mark, --decimal , reads those without points as "
            f"numbers, and an expression reads all of them, as in {expression}"
        )
    return (
        f"{listed}: most values are numbers with a decimal comma or points between thousands, and "
        f"others keep the column text; an expression makes numbers of those, as in {expression}"
    )


def of_roles(
    models: Sequence[Model],
    qids: Sequence[Attribute],
    secrets: Sequence[Attribute],
    keys: Mapping[str, str],
) -> tuple[str, ...]:
    """Return notes on quasi-identifiers of a doubtful kind, and on a secret that no model uses.

    ``keys`` has the user's names of the columns that identify people, by the engine's names.
    """
    columns = (q.expression.name for q in qids if isinstance(q.expression, exp.Column))
    notes = [
        f"the key {quoted(keys[name])} is among the quasi-identifiers: "
        "a key that is unique singles out everybody"
        for name in columns
        if name in keys
    ]
    if constant := [quoted(q.name) for q in qids if not source_columns(q.expression)]:
        notes.append(
            f"{', '.join(constant)}: the expression names no column, so everybody has the same "
            "value, and knowing it says nothing; '...' is text, and a column stands in \"...\""
        )
    if cells := [quoted(q.name) for q in qids if generalised(q.type)]:
        notes.append(
            f"cells of {', '.join(cells)} stand for several values; the adversary is taken to know "
            "in which one a person is, which is too much where cells overlap, as they do when a "
            "release is attacked with fewer quasi-identifiers than it was made for (see compose)"
        )
    if secrets and all(m.goal == "re-identification" for m in models):
        acronym = models[0].acronym  # crs, whose attribute inference is cas
        notes.append(
            f"{acronym} needs no secret; to infer one at the same time, "
            f"ask for {acronym},{acronym.replace('r', 'a', 1)}"
        )
    return tuple(notes)
