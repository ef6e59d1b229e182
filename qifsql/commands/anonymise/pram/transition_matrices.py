"""The transition matrices of a post-randomisation: given in files, or made to be invariant.

An invariant matrix keeps every marginal share in expectation: sum over v of p(v) R(w | v) = p(w).
It is that of sdcMicro's ``pram``: R = (1 - alpha) I + alpha P Q. P keeps a value with probability
``pd`` and else takes any other one, each as likely; Q takes a value of P back to a value that it
may have come from, by their shares. Missing values stay missing. Source: M199.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.counting import transition_files
from qifsql.counting.release_limits import Number, fraction
from qifsql.data.dataset import Schema
from qifsql.data.files import path_text
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

USUAL = {"pd": Fraction(4, 5), "alpha": Fraction(1, 2)}


def split(texts: str | Path | Sequence[str | Path]) -> list[tuple[str, str]]:
    """Return columns and files of matrices from ``COLUMN=FILE``; ``FILE`` alone has no column."""
    pairs = []
    for text in map(path_text, [texts] if isinstance(texts, str | Path) else texts):
        column, equals, file = text.rpartition("=")
        is_whole = not equals or Path(text).is_file()
        pairs.append(("", text) if is_whole else (column, file))
    return pairs


def find(engine: Engine, pairs: Sequence[tuple[str, str]], schema: Schema) -> dict[str, str]:
    """Return the file of the matrix of each column, as the schema names it; refuse two for one.

    ``pairs`` are columns and files; a file without a column says itself which columns it is about.
    """
    files: dict[str, str] = {}
    for column, file in pairs:
        for written in [column] if column else transition_files.columns(engine, file):
            name = schema[written].name
            if name in files:
                raise InputError(f"matrix names {quoted(name)} twice; each column has one matrix")
            files[name] = file
    return files


def make_given(tables: Tables, file: str, attribute: Attribute, number: int) -> list[str]:
    """Create the table ``matrix_i`` of a file: before, after, probability.

    Return a note on the values that stay because the matrix lacks them; [] if there are none.
    InputError if it lists no value of the column.
    """
    dataset, step = transition_files.read_lines(tables.engine, file, attribute)
    transition_files.check(tables.engine, step, dataset, attribute)
    tables.make(f"matrix_{number}", Plan((step,), splice("keyless/known_transitions")))
    inputs = {"values_here": f"values_{number}", "matrix": f"matrix_{number}"}
    # The values that the matrix lacks, but for missing ones, their records, the values it has.
    ((values, records, listed),) = tables.rows(splice("anonymise/unlisted", tables=inputs))
    name = quoted(attribute.name)
    if values and not listed:
        raise InputError(
            f"{file} has no line for a value that {name} has, so nothing would be drawn; write "
            "its values as they are read: 1.5, and 2019-12-31 where the column has dates"
        )
    if not values:
        return []
    return [
        f"{plural(values, 'value')} of {name} ({plural(records, 'record')}) stay as they are, "
        f"because {file} does not list them"
    ]


def make_invariant(
    tables: Tables, attribute: Attribute, number: int, parameters: Mapping[str, Fraction]
) -> None:
    """Create ``matrix_i``, transition probabilities that keep the expected shares of the values.

    ``values_i`` has the values of column i with their records. The matrix has two stages: P changes
    a value as the ``parameters`` say, Q takes the result back to one that it may have come from, by
    Bayes' rule. ``stages`` has the share and the chances in P of each value; it is dropped.
    """
    counted = exp.select("count(value)").from_(
        exp.table_(f"values_{number}")
    )  # without the missing value
    ((size,),) = tables.rows(counted)
    if size > transition_files.MOST_VALUES:
        raise InputError(
            f"{quoted(attribute.name)} has {size:,} values; an invariant matrix is made for at "
            f"most {transition_files.MOST_VALUES:,}: recode it first, or give a matrix"
        )
    numbers = {
        f"{name}_{part}": int(getattr(parameters[name], part))
        for name in USUAL
        for part in ("numerator", "denominator")
    }
    names = {"values_here": f"values_{number}"}
    tables.make("stages", splice("anonymise/stages", numbers=numbers, tables=names))
    tables.make(f"matrix_{number}", splice("anonymise/invariant", numbers=numbers))
    tables.drop("stages")


def read_parameters(pd: Number | None, alpha: Number | None) -> dict[str, Fraction]:
    """Return ``pd`` and ``alpha`` of an invariant matrix as fractions in [0, 1]."""
    parameters = dict(USUAL)
    for name, value in (("pd", pd), ("alpha", alpha)):
        if value is not None:
            parameters[name] = fraction(value, name)
            if not 0 <= parameters[name] <= 1:
                raise InputError(f"{name} is a probability from 0 to 1, such as 0.8")
    return parameters
