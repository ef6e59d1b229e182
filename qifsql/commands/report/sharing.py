"""Filter what a shared report shows: no value of a person, no small group, no local path.

The lists here name the options, tables and columns that may be shown. All others are left out, and
one line states this and the reason.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qifsql.adversary.laws import laws
from qifsql.commands.report import differences, literals
from qifsql.data.option import split_name
from qifsql.errors import InputError, quoted
from qifsql.presentation import small_groups
from qifsql.presentation.language import counted, said
from qifsql.presentation.small_groups import Columns
from qifsql.results.kinds import kind_of
from qifsql.results.stored import Stored

NAME_LISTS = ("qids", "known", "dimensions")  # columns of lists of names of columns
NAME_COLUMNS = (  # columns of names of columns
    *("qid", "a", "b", "by", "secret", "column", "reveals", "quasi_identifier", "dimension"),
)
BY_COLUMN = {"names", "repeated"}  # counts of people in an option, by names of columns
ROLES = {"qids", "secrets", "key", "weight", "secret", "useful", "known", "dimensions"}
"""Options that name columns."""
TEXTS = frozenset((
    "name", "kind", "state", "digest", "release", "releases", "datasets", "when", "attack_id",
    "model", "qids", "secret", "knowledge", "unit", "by", "group", "measure", "wanted", "column",
    "suggested_role", "why", "confidence", "quasi_identifier", "cells", "method", "hash", "attack",
    "mechanism", "epsilon_given", "scenario", "correlation", "distance", "limits", "question",
    "counted", "answer", "definition", "meaning", "takes", "assumes", "remark", "best_for",
    "border", "qid", "a", "b", "first", "role", "reason", "classifier", "dataset", "caution",
    "learner", "learned_from", "adversary", "known_records", "household", "view", "matrix",
    "recipient", "until",
))  # fmt: skip
"""Columns of texts that are names or words of qifsql, never values of people."""
PLAIN = frozenset((
    "models", "null", "na", "csv", "collection", "thresholds", "quantiles", "measures", "unit",
    "histogram", "progressive", "limit", "show", "sizes", "subsets", "threshold", "search",
    "sample", "fraction", "wanted", "suppressed", "skew", "points", "draws", "remark", "bounds",
    "strict", "confidence", "epsilon", "mechanisms", "domain", "counts", "budget", "delta",
    "method", "runs", "classifier", "hash", "max", "presence", "one_to_one", "absent", "wishes",
    "cells", "suppress", "entries", "unnamed", "protections", "from_records", "count", "small",
    "until", "time_budget", "sweep", "require", "learner", "rapid", "knows", "any", "attempt",
    "complete", "max_size", "omit_missing", "repeated", "names", "pd", "alpha", "samples",
    "sample_size", "nearest", "expired", "changed", "statement", "drawn_by",
))  # fmt: skip
"""Options whose value is a choice or a number."""
COLUMNS = frozenset((
    "qids", "secrets", "secret", "key", "keys", "weight", "truth", "useful", "known", "by",
    "columns", "column", "register_qids", "plain", "drop", "a", "b", "member", "dimensions",
    "split", "person", "household",
))  # fmt: skip
"""Options whose value is a column name, or an expression with a name."""
EXPRESSIONS = frozenset(("where", "register_where", "predicates", "expressions"))
FILES = frozenset((
    "dataset", "releases", "policy", "baseline", "population", "people", "register", "hierarchy",
    "hierarchies", "prior", "candidates", "control", "study", "release", "without", "possible",
    "learn", "original", "matrices", "written",
))  # fmt: skip
"""Options whose value is a file, shown without its folder."""
Writer: TypeAlias = Callable[[str], str | None]
"""A function that writes a text as it may be shown; None: it must not be."""
WRITTEN: Mapping[str, Mapping[str, Writer]] = {
    "tables": {
        **dict.fromkeys(("tables", "table", "without", "alone"), literals.table),
        **dict.fromkeys(("known", "dimensions", "dimension", "number"), literals.named),
        **dict.fromkeys(("bounds", "protection"), str),
        "remedy": literals.remedy,
    },
    "attack": {"knows": literals.knowledge},
}
"""Further columns of texts, by the kind of result, each with the function that shows its texts."""


@dataclass(frozen=True)
class Reader:
    """The readers of a report, and what they may see.

    ``minimum`` is the size of the smallest group that is shown; ``private`` readers see everything.
    ``labels`` maps columns to other names. Groups by the columns in ``name_groups`` have the names
    of their values; groups by other columns have numbers.
    """

    minimum: int = small_groups.MINIMUM
    private: bool = False
    labels: Mapping[str, str] | None = None
    name_groups: Set[str] = frozenset()


def share(stored: Sequence[Stored], reader: Reader) -> tuple[list[Stored], str]:
    """Return the results as the reader may see them, and a line on what is left out and why."""
    _check_names(stored, reader.name_groups)
    if reader.private:
        return [_labelled(s, reader.labels or {}) for s in stored], ""
    masks = _masks(stored, reader)
    small = differences.telling_results(stored, reader.minimum)
    open_results = [s for i, s in enumerate(stored) if i not in small and not masks.reveals(s)]
    results = [_public_result(s, masks) for s in open_results]
    line = said(
        "Left out, because others may read this report: {what}. A private report shows all of it.",
        what="; ".join(_omissions(stored, results, masks, reader.labels or {}, small)),
    )
    return [_labelled(s, reader.labels or {}) for s in results], line


def _check_names(stored: Sequence[Stored], names: Set[str]) -> None:
    """Refuse names (of ``--name-groups``) of columns by which no result groups people."""
    columns = {name for s in stored for name in _groupings(s)}
    for name in sorted(names - columns):
        listed = ", ".join(sorted(columns))
        there = f"there are groups by {listed}" if columns else "there are no groups"
        raise InputError(f'no result has groups by "{name}" (--name-groups); {there}')


def _groupings(stored: Stored) -> list[str]:
    """Return the names of the columns that a result has groups by."""
    tables = filter(small_groups.is_grouped, (stored.frame, *stored.details.values()))
    return [str(by) for table in tables for by in table["by"].drop_nulls().unique()]


def _omissions(
    stored: Sequence[Stored],
    shared: Sequence[Stored],
    masks: "_Masks",
    labels: Mapping[str, str],
    small: Set[int],
) -> Iterator[str]:
    """Yield, in words, each kind of thing that a shared report leaves out.

    ``small`` are the indexes in ``stored`` of results about few people.
    """
    yield said(
        "values of people (constants in SQL, filters, gains, predicates and changes are replaced "
        "by their kind)"
    )
    if n := sum(map(len, masks.hidden.values())):
        singular = "{n} group of fewer than {minimum} people"
        plural = (
            "{n} groups of fewer than {minimum} people, or whose numbers would reveal those of one"
        )
        yield counted(singular, plural, n, minimum=masks.minimum)
    by = dict.fromkeys(name for s in stored for name in _groupings(s))
    if names := [labels.get(name, name) for name in by if name not in masks.named]:
        message = "names of groups by {names} (--name-groups shows those of a column)"
        yield said(message, names=", ".join(names))
    if names := [stored[i].name for i in sorted(small)]:
        message = (
            "results about fewer than {minimum} people, or that differ from another by so few: "
            "{names}"
        )
        yield said(message, minimum=masks.minimum, names=", ".join(names))
    if any(differences.has_few(s, masks.minimum) for s in stored):
        message = (
            "sizes, chances and levels of blocks, thresholds, bars of histograms and values of "
            "secrets that tell of fewer than {minimum} people"
        )
        yield said(message, minimum=masks.minimum)
    if names := [s.name for s in stored if s.shows_people]:
        yield said("results with values of people: {names}", names=", ".join(names))
    if names := [s.name for s in stored if masks.reveals(s)]:
        message = "results filtered by the columns of such groups: {names}"
        yield said(message, names=", ".join(names))
    sql_before = {s.name: s.manifest.get("sql") for s in stored if not s.shows_people}
    if names := [s.name for s in shared if sql_before.get(s.name) and not s.manifest["sql"]]:
        yield said("SQL that could not be read: {names}", names=", ".join(names))


@dataclass(frozen=True)
class _Masks:
    """The names of small groups, which are hidden, by the columns that define the groups.

    ``filters`` are the conditions (``where``) of the results that have groups by these columns, ""
    if they have none. Groups by the columns in ``named`` may have the names of their values.
    """

    hidden: Mapping[Columns, Set[str | None]]
    filters: Mapping[Columns, Set[str]]
    named: Set[str]
    minimum: int

    def reveals(self, stored: Stored) -> bool:
        """Return whether a result is filtered by columns of hidden groups and may reveal them.

        It reveals none if all results with these groups have the same filter.
        """
        where = str(stored.spec.get("where") or "")
        texts = (where, str(stored.spec.get("register_where") or ""))
        for columns, groups in self.hidden.items():
            filters_differ = self.filters[columns] != {where}
            if groups and filters_differ and any(columns & _columns_of(text) for text in texts):
                return True
        return False


def _masks(stored: Sequence[Stored], reader: Reader) -> _Masks:
    """Return the groups to hide, by the columns that define them, from all results together."""
    tables: dict[Columns, list[small_groups.Sizes]] = {}
    filters: dict[Columns, set[str]] = {}
    for s in stored:
        for table in filter(small_groups.is_grouped, (s.frame, *s.details.values())):
            for by, sizes in small_groups.sizes(table):
                columns = _group_columns(s, by)
                tables.setdefault(columns, []).append(sizes)
                filters.setdefault(columns, set()).add(str(s.spec.get("where") or ""))
    hidden = {columns: small_groups.hidden(t, reader.minimum) for columns, t in tables.items()}
    return _Masks(hidden, filters, reader.name_groups, reader.minimum)


def _group_columns(stored: Stored, by: str) -> Columns:
    """Return the columns that define the groups of a table whose column ``by`` is this text.

    ``by`` is a column, or the name of an expression (``NAME=...``) in the options: a dimension of
    published tables, or a ``by`` of the result or of a rule of a policy.
    """
    titles = stored.spec.get("tables", ()) if stored.kind == "tables" else ()
    groupings = [name for title in titles for name in literals.dimensions(str(title))]
    rules = stored.spec.get("rules") or ()
    groupings += [str(spec.get("by") or "") for spec in (stored.spec, *rules)]
    for text in groupings:
        if text == by or text.partition("=")[0].strip() == by:
            return frozenset(_sources(text))
    return frozenset(_sources(by))


def _public_result(stored: Stored, masks: _Masks) -> Stored:
    """Return the result without values of people, small groups, folders and the seed."""
    kind = kind_of(stored.kind)
    shared = kind.shared if kind else ()
    details = {n: t for n, t in stored.details.items() if n in shared}
    frame = _public_table(stored.frame, stored, masks, ())
    tables: dict[str, pl.DataFrame] = {}
    for name, table in details.items():
        tables[name] = _public_table(table, stored, masks, tables.values())
    if "target" in stored.frame.columns:
        frame = frame.with_columns(pl.lit(said("one person")).alias("target"))
    note = dict(stored.manifest)  # from here on without folders, literals and the seed
    names = _file_names(stored)
    inputs = [dict(file) | {"path": names[str(file["path"])]} for file in note.get("inputs", ())]
    changed = names | _title_texts(stored)
    notes = [_with_names(str(text), changed) for text in note.get("notes", ())]
    sql = "" if stored.shows_people else literals.script(str(note.get("sql", "")), names) or ""
    spec = _public_spec(stored.spec, _text_writers(stored))
    manifest = note | {"inputs": inputs, "notes": notes, "sql": sql, "spec": spec, "seed": None}
    return replace(stored, frame=frame, details=tables, manifest=manifest)


def _public_table(
    table: pl.DataFrame, stored: Stored, masks: _Masks, beside: Iterable[pl.DataFrame]
) -> pl.DataFrame:
    """Return the columns of a table that may be shown, with its small groups hidden.

    ``beside`` are the details of the result that are shown beside it. Texts that may hold values of
    people are written by the functions of ``literals``.
    """
    qids = [str(name) for name in stored.spec.get("qids") or ()]
    writers: dict[str, Writer] = {
        "gain": literals.gain,
        "type": literals.datatype,
        "changes": lambda text: literals.change(text, qids),
        **_text_writers(stored),
    }
    columns: list[pl.Expr | pl.Series] = []
    empty = {s.name for s in table if s.null_count() == s.len()}  # nothing to hide; views read them
    for name, dtype in table.schema.items():
        if name in writers and (dtype == pl.String or dtype.is_nested()):
            texts = _texts_of(table[name].to_list(), writers[name])
            columns.append(pl.Series(name, texts, dtype))
        elif name in TEXTS or dtype.is_numeric() or dtype == pl.Boolean or name in empty:
            columns.append(pl.col(name))
    shown_tables = (stored.frame, *beside)
    recipients = differences.telling_recipients(stored, masks.minimum)
    public = table.select(columns)
    selection = differences.without_few(public, masks.minimum, shown_tables, recipients)
    if not small_groups.is_grouped(selection):
        return selection
    groupings = map(str, selection["by"].drop_nulls().unique())
    columns_of = {by: _group_columns(stored, by) for by in groupings}
    return small_groups.masked(
        selection,
        hidden_groups=lambda by: masks.hidden.get(columns_of[by], set()),
        minimum=masks.minimum,
        unnamed=columns_of.keys() - masks.named,
    )


def _sources(text: str) -> Set[str]:
    """Return the columns that a name or a named expression reads."""
    parts = split_name(text)
    return _columns_of(parts[1] if parts else text) or {text}


def _columns_of(text: str) -> Set[str]:
    """Return the columns of an expression; a text that is not SQL is a column name."""
    try:
        tree = sqlglot.parse_one(text, read=literals.DIALECT) if text else exp.Null()
    except SqlglotError:
        return {text}
    return {column.name for column in tree.find_all(exp.Column)}


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text in which each key of ``names`` is replaced by its value."""
    for name in sorted(names, key=len, reverse=True):  # one may be part of a longer one
        text = text.replace(name, names[name])
    return text


def _file_names(stored: Stored) -> dict[str, str]:
    """Return the names of the input files, without folders, by their paths."""
    paths = (str(file["path"]) for file in stored.manifest.get("inputs", ()))
    return {path: Path(path).name for path in paths}


def _text_writers(stored: Stored) -> dict[str, Writer]:
    """Return by column the functions that write the texts of a result as they may be shown.

    They are those that ``WRITTEN`` has for this kind of result, and also remove the folders from
    paths of files.
    """
    names = _file_names(stored)

    def without_folders(write: Writer) -> Writer:
        return lambda text: write(_with_names(text, names))

    return {name: without_folders(write) for name, write in WRITTEN.get(stored.kind, {}).items()}


def _title_texts(stored: Stored) -> dict[str, str]:
    """Return what readers see in place of the user's texts in tables, by these texts.

    Only texts that change are in it. Notes have them as they are, or escaped, so both are keys.
    """
    public: dict[str, str] = {}
    for table in (stored.frame, *stored.details.values()):
        for column, write in _text_writers(stored).items():
            if column in table.columns:
                texts = table[column]
                texts = texts.explode() if texts.dtype.is_nested() else texts
                public |= {str(text): str(_texts_of(text, write)) for text in texts.drop_nulls()}
    public = {text: written for text, written in public.items() if text != written}
    return public | {quoted(text)[1:-1]: written for text, written in public.items()}


def _public_spec(spec: Mapping[str, Any], of_kind: Mapping[str, Writer]) -> dict[str, Any]:
    """Return the options of a result as they may be shown; those on no list are left out.

    ``of_kind`` has the functions that write the texts of this kind of result, by their column.
    """
    qids = [str(name) for name in spec.get("qids") or ()]
    writers: dict[str, Writer] = {
        **dict.fromkeys(FILES, lambda text: " + ".join(Path(p).name for p in text.split(" + "))),
        **dict.fromkeys(EXPRESSIONS, literals.expression),
        **dict.fromkeys(COLUMNS, literals.named),
        "gains": literals.gain,
        "link": literals.rule,
        "changes": lambda text: literals.change(text, qids),
    }
    if "knows" in of_kind:  # laws, with files; elsewhere it is names and numbers
        writers["knows"] = of_kind["knows"]
    if "tables" in of_kind:
        writers |= dict.fromkeys(("tables", "nested"), of_kind["tables"])
    public_spec: dict[str, Any] = {}
    for name, value in spec.items():
        is_plain = name in PLAIN and name not in writers
        is_order = name == "order" and isinstance(value, str)  # a list has values of people
        if is_plain or is_order or value is None:
            public_spec[name] = value
        elif name in writers:
            public_spec[name] = _texts_of(value, writers[name])
        elif name == "recipients":
            public_spec[name] = [_public_recipient(recipient) for recipient in value]
        elif name == "rules":
            public_spec[name] = [
                dict(rule) | {"by": _texts_of(rule.get("by"), literals.named)} for rule in value
            ]
    return public_spec


def _public_recipient(recipient: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipient of a policy with the names of files without folders."""
    public_laws = _texts_of(recipient["laws"], literals.knowledge)
    files = {
        key: [Path(file).name for file in recipient.get(key, ())] for key in ("holds", "earlier")
    }
    return {**recipient, "laws": public_laws, **files}


def _texts_of(value: Any, write: Writer) -> Any:
    """Return a text, or each text of a list or of a mapping's values, as it may be shown."""
    if isinstance(value, str):
        text = write(value)
        return said("(left out)") if text is None else text
    if isinstance(value, Mapping):
        return {name: _texts_of(inner, write) for name, inner in value.items()}
    if isinstance(value, Sequence):
        return [_texts_of(inner, write) for inner in value]
    return value


def _labelled(stored: Stored, labels: Mapping[str, str]) -> Stored:
    """Return a result with the names ``labels`` for its columns: in tables, options, manifest."""
    if not labels:
        return stored
    details = {name: _renamed(table, labels) for name, table in stored.details.items()}
    spec = dict(stored.spec)
    for role in ROLES & set(spec):
        names = spec[role]
        if isinstance(names, str):
            spec[role] = labels.get(names, names)
        else:
            spec[role] = [labels.get(n, n) for n in names or ()]
    for role in BY_COLUMN & set(spec):
        spec[role] = {labels.get(name, name): counts for name, counts in spec[role].items()}
    if spec.get("recipients"):
        spec["recipients"] = [_labelled_recipient(r, labels) for r in spec["recipients"]]
    note = dict(stored.manifest) | {"spec": spec}
    if "columns" in note:
        listed = [dict(column) for column in note["columns"]]
        note["columns"] = [c | {"name": labels.get(c["name"], c["name"])} for c in listed]
    return replace(stored, frame=_renamed(stored.frame, labels), details=details, manifest=note)


def _labelled_recipient(recipient: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a recipient of a policy with the names ``labels`` for what is known."""
    chances = {labels.get(name, name): p for name, p in recipient["chances"].items()}
    known_laws = laws(recipient["laws"]) if recipient["laws"] else ()
    renamed = [replace(law, column=labels.get(law.column, law.column)) for law in known_laws]
    return {**recipient, "chances": chances, "laws": [law.plain() for law in renamed]}


def _renamed(table: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return a table of a result with ``labels`` in place of names of the user's columns."""
    lists = [c for c in NAME_LISTS if table.schema.get(c) == pl.List(pl.String)]
    texts = [c for c in NAME_COLUMNS if table.schema.get(c) == pl.String]
    return table.with_columns(
        *(pl.col(c).list.eval(pl.element().replace(labels)) for c in lists),
        *(pl.col(c).replace(labels) for c in texts),
    )
