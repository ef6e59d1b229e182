"""Compatibility: the records of a sanitised release that may be those of people with raw values.

A record may be a person's if each of its cells contains her raw value. One that stands for
everything contains all, and so does an empty one if the release has more of them than the original.
Records and people are counted by classes of equal cells and points of equal values, never pair by
pair. Classes that may have any value in the same columns are located together, in the other columns
alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.spec import Attribute, Microdata
from qifsql.counting.composition import Compared
from qifsql.counting.locate import Located, locate
from qifsql.counting.spans import Generalised, make_spans
from qifsql.data.expressions import SOURCE
from qifsql.data.readers import relation
from qifsql.data.types import nested
from qifsql.engine.tables import Tables
from qifsql.query.microdata_steps import normal
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

MOST_SETS = 64  # sets of columns in which cells may be any value: all of six columns


@dataclass(frozen=True)
class Guess:
    """The success of guessing the secret from the records that may be a person's.

    ``success`` is the mean share of the most frequent secret among them, in [0, 1]; it is 0 for who
    finds none. ``certain`` people find one secret in all of them.
    """

    secret: str
    success: Fraction
    certain: int


@dataclass(frozen=True)
class Compatible:
    """The success of people who look for their records in a release (M196).

    ``candidates`` is the mean number of records that may be a person's, ``least`` the smallest but
    0. ``success`` is the mean chance to name one's own record. ``believed`` is what people believe
    it to be, for whom each record that they find may be theirs. If nothing tells whose record is
    whose, both are equal, and ``misled`` is None. ``singled_out`` people find one record. The own
    record of ``misled`` people is not among those that they find.
    """

    people: int
    candidates: Fraction
    least: int
    success: Fraction
    believed: Fraction
    singled_out: int
    misled: int | None
    guesses: tuple[Guess, ...]


def find(tables: Tables, original: Compared, release: Compared) -> Compatible | None:
    """Return what the people of ``original`` find in a ``release`` of their records.

    The original's values are read (``losses.read_original``). The record in the same place is taken
    for a person's own if both files have as many records. None if cells that may be any value stand
    in more than ``MOST_SETS`` different sets of columns: people are located once for each.
    """
    people, raw_qids = original.attack.microdata, [a for _, a in original.cells]
    numbers = [g.raw.number for g, _ in release.cells]
    tables = tables.doing("locating people", release.title)
    in_order = _read_people(tables, people, raw_qids, numbers) == _read_records(tables, release)
    _code(tables, release, numbers)
    open_columns = splice("cells/open_columns", shape={"qids": numbers})
    sets = tables.rows(open_columns.limit(MOST_SETS + 1))
    if len(sets) > MOST_SETS:
        tables.drop("coded", "coded_records", "points", "classes", "crowd")
        _drop_spans(tables, release)
        return None
    _locate(tables, release, sets)
    _drop_spans(tables, release)
    fitting = splice("cells/fitting", shape={"qids": numbers})
    tables.make("fitting", fitting if in_order else fitting.where("FALSE"))
    counts = tables.answer(splice("cells/candidates"))
    guesses = tuple(
        _guess(tables, secret.name, j, numbers)
        for j, secret in enumerate(release.attack.microdata.secrets, 1)
    )
    tables.drop("coded", "coded_records", "points", "classes", "crowd", "found", "fitting")
    return _compatible(counts, guesses, in_order=in_order)


def _read_people(
    tables: Tables, people: Microdata, qids: Sequence[Attribute], numbers: Sequence[int]
) -> int:
    """Create ``coded``, a row per person: position and places; return the number of positions."""
    values = {f"qid_{j}": normal(qids[j - 1]) for j in numbers}
    size = _read_in_order(tables, "people", people, values)
    shape: dict[str, Shape] = {"qids": list(numbers), "truth": False, "key": False}
    tables.make("coded", splice("cells/coded_people", shape=shape))
    tables.drop("people")
    return size


def _read_records(tables: Tables, release: Compared) -> int:
    """Create ``records``, a row per record: position, cells, secrets; return the positions."""
    microdata = release.attack.microdata
    values = {f"cell_{g.raw.number}": _cell(attribute) for g, attribute in release.cells}
    values |= {f"secret_{j}": normal(s) for j, s in enumerate(microdata.secrets, 1)}
    return _read_in_order(tables, "records", microdata, values)


def _cell(attribute: Attribute) -> exp.Expr:
    return attribute.expression.copy() if nested(attribute.type) else normal(attribute)


def _read_in_order(
    tables: Tables, name: str, microdata: Microdata, values: dict[str, exp.Expr]
) -> int:
    """Create a table of columns of the records that pass the filter, with their ``position``.

    Return the number of all records: those that the filter leaves out have positions, too.
    """
    source = exp.alias_(relation(microdata.dataset), SOURCE, table=True)
    columns = [exp.alias_(tree, alias) for alias, tree in values.items()]
    position = exp.alias_(exp.Window(this=exp.RowNumber()), "position")
    passes = exp.true() if microdata.where is None else microdata.where.copy()
    inner = exp.select(*columns, position, exp.alias_(passes, "passes")).from_(source)
    query = exp.select(*values, "position").from_(inner.subquery("numbered")).where("passes")
    tables.make(name, query)
    ((size,),) = tables.rows(exp.select("count(*)").from_(source.copy()))
    return int(size)


def _code(tables: Tables, release: Compared, numbers: Sequence[int]) -> None:
    """Create points, classes of records and the spans of their cells, and ``crowd``."""
    columns = {g.raw.number: g for g, _ in release.cells}
    names: dict[str, str] = {}
    for j, column in columns.items():
        cells = exp.select(exp.column(f"cell_{j}").as_("cell")).from_("records")
        make_spans(tables, column, cells, may_be_lost=True)
        names |= {f"{name}_{j}": column.names[name] for name in ("cells", "spans")}
    secrets = len(release.attack.microdata.secrets)
    shape: dict[str, Shape] = {"qids": list(numbers), "secrets": secrets}
    tables.make("coded_records", splice("cells/coded_records", tables=names, shape=shape))
    tables.drop("records", *(column.names["cells"] for column in columns.values()))
    tables.make("classes", splice("cells/classes_of_records", shape={"qids": list(numbers)}))
    tables.make("points", splice("cells/points", places=numbers))
    tables.make("crowd", splice("cells/people_at_points", places=numbers))


def _locate(tables: Tables, release: Compared, sets: Sequence[tuple[bool, ...]]) -> None:
    """Create ``found``: a row per point and class whose cells contain its values.

    ``sets`` say of each column whether classes may have any value there; all sets that occur.
    """
    columns = tuple(g for g, _ in release.cells)
    queries: list[exp.Select] = []
    for number, is_open in enumerate(sets, 1):
        fixed = [column for column, free in zip(columns, is_open, strict=True) if not free]
        queries.append(_locate_classes(tables, Located(number, tuple(fixed), "points"), columns))
    tables.make("found", exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0])
    tables.drop(*(query.find(exp.Table).name for query in queries))  # type: ignore[union-attr]


def _drop_spans(tables: Tables, release: Compared) -> None:
    for column, _ in release.cells:
        tables.drop(column.names["spans"], column.names["members"])


def _locate_classes(tables: Tables, release: Located, columns: Sequence[Generalised]) -> exp.Select:
    """Return the query of points and classes that may have any value in all but some columns.

    Those in ``release`` are these columns.
    """
    fixed = [column.raw.number for column in release.columns]
    free = [column.raw.number for column in columns if column.raw.number not in fixed]
    classes = release.name("classes")
    shape = {"free": free, "fixed": fixed}
    tables.make(classes, splice("cells/classes_free_in", shape=shape))
    if fixed:
        locate(tables, release)
    else:
        everywhere = splice("cells/found_everywhere", tables={"classes": classes})
        tables.make(release.name("found"), everywhere)
    tables.drop(classes)
    return exp.select("point", "class").from_(release.name("found"))


def _guess(tables: Tables, secret: str, j: int, numbers: Sequence[int]) -> Guess:
    """Return the success of guessing secret ``j``."""
    tables.make(
        "class_values", splice("cells/class_values", secret=j, shape={"qids": list(numbers)})
    )
    rows = tables.answer(splice("cells/candidate_secrets"))
    tables.drop("class_values")
    ((people,),) = tables.rows(exp.select("sum(people)::BIGINT").from_("crowd"))
    believed = sum((Fraction(n * best, size) for size, best, _, n in rows), Fraction())
    certain = sum(n for _, _, values, n in rows if values == 1)
    return Guess(secret, believed / people, certain)


def _compatible(
    counts: Sequence[tuple[int, int, int]], guesses: tuple[Guess, ...], *, in_order: bool
) -> Compatible:
    """Return the numbers of the rows ``candidates``, ``people``, ``fitting`` of the view."""
    everybody = sum(people for _, people, _ in counts)
    located = [(n, people, fitting) for n, people, fitting in counts if n]
    believed = sum((Fraction(people, n) for n, people, _ in located), Fraction()) / everybody
    right = sum((Fraction(fitting, n) for n, _, fitting in located), Fraction()) / everybody
    return Compatible(
        everybody,
        Fraction(sum(n * people for n, people, _ in located), everybody),
        least=min((n for n, _, _ in located), default=0),
        success=right if in_order else believed,
        believed=believed,
        singled_out=sum(people for n, people, _ in located if n == 1),
        misled=everybody - sum(fitting for _, _, fitting in located) if in_order else None,
        guesses=guesses,
    )
