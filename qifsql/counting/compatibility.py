"""Compatibility: the records of a sanitised release that may be those of people with raw values.

A record may be a person's if each of its cells contains her raw value. One that stands for
everything contains all, and so does an empty one if the release has more of them than the original.
Records and people are counted by classes of equal cells and points of equal values, never pair by
pair. Classes that may have any value in the same columns are located together, in the other columns
alone. Where people have several records, those of the release are counted by sets of classes: all
that the records of one person are in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

from qifsql.counting.composition import Compared
from qifsql.counting.locate import Located, locate
from qifsql.counting.spans import Generalised, make_spans
from qifsql.counting.suppressed import written_request
from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.readers import relation, select_records
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError, InputError, plural, quoted
from qifsql.measures.bayes import Success
from qifsql.query.microdata_steps import normal
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

MOST_SETS = 64  # sets of columns in which cells may be any value: all of six columns
FALSE_CELLS = ("pram", "noise", "swap")
"""Methods of ``anonymise`` that write values which may be false, instead of generalised ones."""
OTHER_ATTACKS = (
    "attack it with what is known of its errors (--knows), or by what it says of people like them "
    "(qifsql attack cas PEOPLE --learn RELEASE)"
)
ONE_RECORD = (
    "in the view compatible one record of a person is known: with all of them, the records of each "
    "person would have to be paired with those of each other person, which is not counted"
)


class UncountedError(InputError):
    """The records that may be a person's cannot be counted; the message is the reason."""


@dataclass(frozen=True)
class Guess:
    """The success of guessing a secret from the records that may be a person's.

    ``before`` is that of who knows nothing of her. ``after`` is what the adversary believes: the
    share of the most frequent secret among these records, 0 for a person who has none. Certain
    people have one secret in all of them.
    """

    secret: str
    before: Success
    after: Success


@dataclass(frozen=True)
class Compatible:
    """The success of somebody who looks for the records of people in a release (M196, M200).

    ``records`` are those of ``people``, one each unless a person is named; then one record of a
    person is known, and others are candidates, who are counted as people. ``candidates`` is the
    mean number of records that may be hers, ``least`` the smallest but 0, of people in the release.
    ``after`` is the success at naming the own record, ``before`` that without knowing any value,
    and ``believed`` the success if each record that is found may be the own one. If nothing tells
    whose record is whose, ``after`` is that, and ``misled`` is None. ``singled_out`` people have
    one candidate. The own record of ``misled`` people is not among their candidates; ``lost``
    records have no candidate. ``outside`` classes of records have a cell that contains no value of
    any of the people.
    """

    records: int
    people: int
    candidates: Fraction
    least: int
    before: Success
    after: Success
    believed: Fraction
    singled_out: int
    misled: int | None
    lost: int
    guesses: tuple[Guess, ...]
    outside: int = 0


TABLES = ("classes", "owners", "points", "located", "found")
VIEWS = ("crowd_of_people", "sizes", "alone", "fitting")
"""Views of ``sql/cells/`` that are kept as tables, by point: how many records of people are there;
how many records of the release may be theirs; the points with one such record; the points and
classes of records that are among those that may be a person's, and are her own."""


def find(tables: Tables, original: Compared, release: Compared) -> Compatible:
    """Return what somebody finds in a ``release`` who knows the people of ``original``.

    The original's values are read (``losses.read_original``). A record is a person's own if both
    have the same key or person; without either, if both are in the same place of files with as many
    records. Raises UncountedError if the release has false cells by its method, or cells that may
    be any value in more than ``MOST_SETS`` sets of columns: people are located once for each.
    """
    refuse_false_cells(release.attack.microdata.dataset, release.title)
    numbers = [column.raw.number for column in release.columns]
    tables = tables.doing("locating people", release.title)
    is_told = _make_points_and_classes(tables, original, release, numbers)
    # How many classes have a cell that contains no value of the people, as a centroid may.
    spans = {f"spans_{column.raw.number}": column.names["spans"] for column in release.columns}
    shape: dict[str, Shape] = {"qids": numbers}
    ((outside,),) = tables.rows(splice("cells/classes_outside", tables=spans, shape=shape))
    _locate(tables, release, _open_sets(tables, release, numbers))
    if release.attack.microdata.person is not None:  # candidates are people, not records
        _count_persons(tables, release)
    for name in VIEWS:
        tables.make(name, splice(f"cells/{name}"))
    guesses = [_measure_guess(tables, s.name, j) for j, s in enumerate(release.secrets, 1)]
    success = _measure_naming(tables, guesses, outside=int(outside), is_told=is_told)
    _drop_tables(tables, release)
    return success


def _drop_tables(tables: Tables, release: Compared) -> None:
    """Drop the tables of one release, and those of the cells of its columns."""
    tables.drop(*TABLES, *VIEWS)
    for column in release.columns:
        tables.drop(column.names["spans"], column.names["members"])


def refuse_false_cells(dataset: Dataset | Collection, title: str) -> None:
    """Refuse a release whose manifest names a method that writes false values."""
    method = (written_request(dataset) or {}).get("method")
    if method in FALSE_CELLS:
        raise UncountedError(
            f"{title} was made by the method {method}: its cells are values that may be false, so "
            f"the record whose cells contain a person's values need not be hers; {OTHER_ATTACKS}"
        )


def _make_points_and_classes(
    tables: Tables, original: Compared, release: Compared, numbers: Sequence[int]
) -> bool:
    """Create ``located`` and ``points`` of people, ``owners`` and ``classes`` of records.

    ``points`` has a row per combination of raw values, ``located`` the point and key of each record
    of people; ``classes`` has a row per combination of cells, ``owners`` the class, key and secrets
    of each record of the release. ``numbers`` are those of the quasi-identifiers that both have.

    Return whether keys, people or the order of the records tell whose record is whose. The order
    does if both files have as many records, those that the filter leaves out too.
    """
    sizes = [
        tables.rows(exp.select("count(*)").from_(relation(file.attack.microdata.dataset)))
        for file in (original, release)
    ]
    in_order = sizes[0] == sizes[1]
    people, records = (_owner(file, in_order=in_order) for file in (original, release))
    values = {f"qid_{j}": normal(original.attack.microdata.qids[j - 1]) for j in numbers}
    _read_file(tables, "people", original, values | {"key": people})
    # Of each record of people: the place of each value among all values, and its key. The view can
    # also have a true secret and the position in the file, which nothing asks for here.
    shape: dict[str, Shape] = {"qids": numbers, "truth": False, "position": False, "key": True}
    tables.make("coded", splice("cells/coded_people", shape=shape))
    tables.make("points", splice("cells/points", places=numbers))
    tables.make("located", splice("cells/located", places=numbers))
    tables.drop("people", "coded")
    values = {f"secret_{j}": normal(s) for j, s in enumerate(release.secrets, 1)}
    _read_file(tables, "records", release, release.cell_values | values | {"key": records})
    _code_records(tables, release, numbers)
    return in_order or release.owner is not None


def _owner(file: Compared, *, in_order: bool) -> exp.Expr:
    """Return what tells whose record it is: the person, the key, the place, or nothing (NULL).

    ``in_order``: without person and key, records in the same place of both files are one person's.
    """
    if file.owner is not None:
        return normal(file.owner)
    return exp.Window(this=exp.RowNumber()) if in_order else exp.cast(exp.null(), "BIGINT")


def _read_file(tables: Tables, name: str, file: Compared, values: Mapping[str, exp.Expr]) -> None:
    """Create a table of ``values`` of the records that pass the filter; refuse repeated keys.

    Values are computed before records are filtered: one of them may be the place in the file
    (``_owner``), and records that do not pass have places, too.
    """
    microdata = file.attack.microdata
    columns = [exp.alias_(tree, alias) for alias, tree in values.items()]
    passes = exp.true() if microdata.where is None else microdata.where.copy()
    inner = select_records(microdata.dataset, [*columns, exp.alias_(passes, "passes")])
    tables.make(name, exp.select(*values).from_(inner.subquery("numbered")).where("passes"))
    if file.key is None:
        return
    ((repeated,),) = tables.rows(exp.select("count(key) - count(DISTINCT key)").from_(name))
    if repeated:
        raise DatasetError(
            f"key {quoted(file.key.name)} of {file.title} names {plural(repeated, 'record')} again "
            "that it named before; a key names one record each: where people have several, name "
            "the column of people (person)"
        )


def _code_records(tables: Tables, release: Compared, numbers: Sequence[int]) -> None:
    """Create ``owners`` and ``classes`` of the records, and the spans of their cells.

    ``records`` has the cells of each record (``cell_j``), its secrets and its key; it is dropped.
    A span is the range of places of people's values that a cell contains.
    """
    names: dict[str, str] = {}
    for column in release.columns:
        j = column.raw.number
        cells = exp.select(exp.column(f"cell_{j}").as_("cell")).from_("records")
        make_spans(tables, column, cells, may_be_lost=True)
        names |= {f"{name}_{j}": column.names[name] for name in ("cells", "spans")}
    of_secrets: dict[str, Shape] = {"secrets": len(release.secrets)}
    shape: dict[str, Shape] = {"qids": numbers}
    # Each record with the numbers of its cells in place of the cells; 0: it may be any value.
    coded = splice("cells/coded_records", tables=names, shape=shape | of_secrets)
    tables.make("coded_records", coded)
    tables.drop("records", *(column.names["cells"] for column in release.columns))
    tables.make("classes", splice("cells/classes_of_records", shape=shape))
    tables.make("owners", splice("cells/owners", shape=shape | of_secrets))
    tables.drop("coded_records")


def _open_sets(tables: Tables, release: Compared, numbers: Sequence[int]) -> list[tuple[bool, ...]]:
    """Return the sets of columns in which classes may have any value: a truth value per column.

    Raises UncountedError, and drops all tables, if there are more than ``MOST_SETS``.
    """
    open_columns = splice("cells/open_columns", shape={"qids": numbers})
    sets = tables.rows(open_columns.limit(MOST_SETS + 1))
    if len(sets) > MOST_SETS:
        _drop_tables(tables, release)
        raise UncountedError(
            f"{release.title} has empty or suppressed cells in more than {MOST_SETS} sets of "
            "columns: the records that may be a person's are not looked for; name fewer "
            "quasi-identifiers"
        )
    return sets


def _locate(tables: Tables, release: Compared, sets: Sequence[tuple[bool, ...]]) -> None:
    """Create ``found``: a row per point and class whose cells contain its values.

    ``sets`` are the sets of columns in which some class may have any value, as a truth value per
    column. The classes of one set are located together, by their other columns alone.
    """
    found_tables: list[str] = []
    for number, is_open in enumerate(sets, 1):
        open_or_not = zip(release.columns, is_open, strict=True)
        fixed = tuple(column for column, any_value in open_or_not if not any_value)
        located = Located(number, fixed, "points")
        _locate_classes(tables, located, release.columns)
        found_tables.append(located.name("found"))
    queries = [exp.select("point", "class").from_(table) for table in found_tables]
    tables.make("found", exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0])
    tables.drop(*found_tables)


def _locate_classes(tables: Tables, release: Located, columns: Sequence[Generalised]) -> None:
    """Create ``found_r``: pairs of a point and a class whose cells contain it.

    The classes are those in which exactly the columns that ``release`` lacks may have any value.
    """
    fixed = [column.raw.number for column in release.columns]
    free = [column.raw.number for column in columns if column.raw.number not in fixed]
    classes = release.name("classes")
    shape = {"free": free, "fixed": fixed}
    tables.make(classes, splice("cells/classes_free_in", shape=shape))
    if fixed:
        locate(tables, release)
    else:  # a class that may be any value in every column contains all points
        everywhere = splice("cells/found_everywhere", tables={"classes": classes})
        tables.make(release.name("found"), everywhere)
    tables.drop(classes)


def _count_persons(tables: Tables, release: Compared) -> None:
    """Replace ``found``, ``owners`` and ``classes`` of records by those of people.

    A person of the release replaces her records, and the set of classes in which she has records
    replaces a class: a point is found in a set if it is in one of its classes.
    """
    shape: dict[str, Shape] = {"secrets": len(release.secrets)}
    tables.make("persons", splice("cells/persons", shape=shape))
    tables.make("sets", splice("cells/sets"))
    tables.repeatable("found", splice("cells/found_sets"))()
    tables.repeatable("owners", splice("cells/owners_of_sets", shape=shape))()
    tables.repeatable("classes", exp.select("class", "records").from_("sets"))()
    tables.drop("persons", "sets")


def _people_at(tables: Tables, points: str) -> int:
    """Return how many people have a record at the points of a table."""
    ((people,),) = tables.answer(splice("cells/people_among", tables={"chosen": points}))
    return int(people)


def _measure_guess(tables: Tables, secret: str, j: int) -> Guess:
    """Return the success of guessing secret ``j``, whose name is ``secret``."""
    # By class: the records with each secret. By point: the candidates, those with their most
    # frequent secret, and the number of their secrets. ``sure``: the points with one secret.
    tables.make("class_values", splice("cells/class_values", secret=j))
    tables.make("guessed", splice("cells/guessed"))
    tables.make("sure", splice("cells/sure"))
    # Who knows no value has all records of the release as candidates.
    ((records_before, best, values),) = tables.answer(splice("cells/secrets_at_first"))
    # The points of ``guessed`` with equal numbers, and how many people are there.
    after = tables.answer(splice("cells/candidate_secrets"))
    certain = _people_at(tables, "sure")
    tables.drop("class_values", "guessed", "sure")
    ((records,),) = tables.rows(exp.select("count(*)").from_("located"))
    before = _success_at_guessing([(records_before, best, values, 1)], people=1, certain=0)
    return Guess(secret, before, _success_at_guessing(after, people=records, certain=certain))


def _success_at_guessing(
    rows: Sequence[tuple[int, int, int, int]], *, people: int, certain: int
) -> Success:
    """Return the success of guessing a secret about ``people``, of whom so many are ``certain``.

    The four numbers of a row: the candidates of a person, those of them with their most frequent
    secret, the different secrets among them, and how many people have these three numbers.
    """
    sure = sum(n for _, _, secrets, n in rows if secrets == 1)
    right = sum((Fraction(n * modal, candidates) for candidates, modal, _, n in rows), Fraction())
    chances = (Fraction(modal, candidates) for candidates, modal, _, _ in rows)
    worst_case = float(max(chances, default=Fraction()))
    return Success(Fraction(sure, people), right / people, worst_case, certain)


class _Tally(NamedTuple):
    """A number of candidates, and how many records of people have so many.

    ``present`` is how many of them are in the release, ``fitting`` how many of them are there among
    their candidates.
    """

    candidates: int
    records: int
    present: int
    fitting: int


def _measure_naming(
    tables: Tables, guesses: Sequence[Guess], *, outside: int, is_told: bool
) -> Compatible:
    """Return the result for one release: the success at finding each person's own record.

    The candidates of a person are the records whose cells contain her values. ``is_told``: files
    say whose record is whose; otherwise the result is what the adversary believes, who takes it
    that everybody is in the release. ``guesses`` and ``outside`` are parts of the result as given.
    """
    rows = [_Tally(*row) for row in tables.answer(splice("cells/candidates"))]
    ((total,),) = tables.rows(exp.select("sum(records)::BIGINT").from_("classes"))
    singled_out, people = (_people_at(tables, points) for points in ("alone", "points"))
    believed = [row._replace(present=row.records, fitting=row.records) for row in rows]
    # People of whom no record is among the candidates of their own values.
    misled = int(tables.answer(splice("cells/misled"))[0][0]) if is_told else None
    counted = rows if is_told else believed
    records = sum(row.records for row in rows)
    present = sum(row.present for row in counted)
    return Compatible(
        records,
        people,
        Fraction(sum(row.candidates * row.records for row in rows), records),
        least=min((r.candidates for r in counted if r.candidates and r.present), default=0),
        before=_success_at_naming([_Tally(total, records, present, present)], singled_out=0),
        after=_success_at_naming(counted, singled_out),
        believed=_success_at_naming(believed, singled_out).probabilistic,
        singled_out=singled_out,
        misled=misled,
        lost=sum(row.records for row in rows if not row.candidates),
        guesses=tuple(guesses),
        outside=outside,
    )


def _success_at_naming(rows: Sequence[_Tally], singled_out: int) -> Success:
    """Return the success at naming the own record by a draw among the candidates."""
    everybody = sum(row.records for row in rows)
    located = [row for row in rows if row.candidates]
    alone = sum(row.fitting for row in located if row.candidates == 1)
    share = sum((Fraction(row.fitting, row.candidates) for row in located), Fraction()) / everybody
    least = min((row.candidates for row in located if row.fitting), default=0)
    worst = 1 / least if least else 0.0
    return Success(Fraction(alone, everybody), share, worst, singled_out)


def notes(release: Compared, success: Compatible) -> list[str]:
    """Return notes on what is not counted, and of whom a release says something false."""
    texts = [] if release.attack.microdata.person is None else [ONE_RECORD]
    texts += _notes_on_truth(release, success)
    all_found = not (success.lost if success.misled is None else success.misled)
    if success.outside and not all_found:
        texts.append(
            f"{release.title} has cells that contain no raw value, such as centroids: the view "
            "compatible does not measure who looks for the nearest one, and its success may be far "
            "too low; use the view cells"
        )
    return texts


def _notes_on_truth(release: Compared, success: Compatible) -> list[str]:
    """Return notes on people of whom a release says something false, or nothing."""
    title = release.title
    missing, everybody = success.misled, success.people
    if missing is None:  # nothing tells whose record is whose
        missing, everybody = success.lost, success.records
    if 2 * missing > everybody:
        what = "has no record of" if success.misled is None else "says something false of"
        return [
            f"{title} {what} {missing / everybody:.1%} of the people: its cells are not sets "
            "around their values but noise, drawn or swapped values, or centroids, or its records "
            "are in another order or those of other people; who looks for the records whose cells "
            f"contain raw values finds little; {OTHER_ATTACKS}"
        ]
    if success.misled is None:
        return [
            f"{title} has not as many records as the original, so nothing tells whose is whose "
            "(no key is named): the success of people with raw knowledge is what they believe"
        ]
    if not missing:
        return []
    note = (
        f"{title} says something false of {plural(missing, 'person')}: the own record does not "
        "contain the raw values"
    )
    if release.owner is None and success.believed > success.after.probabilistic:
        note += (
            "; if its records are in another order, the success of people with raw knowledge is up "
            f"to {float(success.believed):.2%}, and not {float(success.after.probabilistic):.2%}"
        )
    return [note]
