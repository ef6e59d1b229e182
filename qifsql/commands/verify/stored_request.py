"""The request of a stored attack, made again from its manifest, and the SQL printed for it.

The SQL is made from the request and not from the manifest's SQL, so the two are checked apart.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from sqlglot import exp

from qifsql.adversary.laws import laws
from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack
from qifsql.commands.sql.sql import sql
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.verdicts import Place, Question, Repetition, place_results, questions
from qifsql.counting.session import opened
from qifsql.data.collection import Collection
from qifsql.data.csv_options import CSV_OPTIONS
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE
from qifsql.data.formats import CONVERTED, ZIPPED
from qifsql.data.types import Row
from qifsql.engine.bare import MOST_ROWS, Answer, BareDuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, InternalError
from qifsql.query.render import parsed, render
from qifsql.reference.success import Number
from qifsql.results.storage import Origin
from qifsql.results.stored import Stored

COMPARED_ENTRIES = (
    *("models", "qids", "secrets", "expressions", "key", "weight", "where", "null", "target"),
)
"""Entries of the manifest that a request made again must share with it."""
COPY_REASON = "the statements read a copy that qifsql makes of files of this format"
OTHER_SOURCES = {
    "learn": "the adversary learns from another file",
    "link": "the releases are linked without a key",
    "people": "the adversary looks for the records of people of another file",
}
"""Options of attacks that are not a GROUP BY of one release or collection, and the reason why."""
SUPPRESSED_REASON = (
    "its blocks are without the suppressed records, each of which is one of anything"
)
SIMPLE_WAY = "two-level SQL"
PRINTED_WAY = "SQL of the request"


class RepetitionError(Exception):
    """A way cannot be taken for this result; the message is the reason."""


def attempt(way: str, repeat: Callable[..., Repetition], *arguments: Any) -> Repetition:
    """Return the numbers that a function gives; the reason why not if it raises RepetitionError."""
    try:
        return repeat(*arguments)
    except RepetitionError as e:
        return Repetition(way, reason=str(e))


class UnfitError(Exception):
    """The request of a manifest does not fit the data that it names by their digests."""


@dataclass(frozen=True)
class Request:
    """A stored attack or sweep as ``qifsql sql`` takes it: models, data, options of the adversary.

    ``files`` are those that its SQL may read.
    """

    stored: Stored
    models: tuple[str, ...]
    source: Dataset | Collection
    options: Mapping[str, Any]
    files: tuple[str, ...]
    settings: Settings

    def subset(self, qids: Sequence[str], rows: Sequence[int]) -> "Request":
        """Return the attack with other qids, some of a sweep; ``rows`` are positions of results."""
        spec = self.stored.spec
        texts = [_as_written(name, spec["expressions"]) for name in qids]
        manifest = {**self.stored.manifest, "spec": {**spec, "qids": list(qids)}}
        frame = self.stored.frame[list(rows)]
        part = replace(self.stored, frame=frame, details={}, manifest=manifest)
        return replace(self, stored=part, options={**self.options, "qids": texts})

    def script(self, **form: Any) -> str:
        """Return the SQL that ``qifsql sql`` prints for the request; ``form`` has its options."""
        return sql(self.models, self.source, settings=self.settings, **{**self.options, **form})

    def run(self, script: str, limit: int = MOST_ROWS) -> list[Answer]:
        """Return the answers of a script in a bare DuckDB, which can read only the files."""
        datasets = self.source.datasets
        with BareDuckDB(self.files, self.settings, self.stored.name, datasets) as bare:
            return bare.run(script, limit=limit)


def request(stored: Stored, inputs: Inputs, settings: Settings) -> Request:
    """Return the request that a manifest records, so that its SQL can be printed and run again.

    ``inputs`` has the paths of the files now. Raises RepetitionError if the manifest does not say
    enough to ask again, UnfitError if it asks for what the data lack: somebody has changed it.
    """
    spec = stored.spec
    for option, why in OTHER_SOURCES.items():
        if spec.get(option):
            raise RepetitionError(why)
    if "tables" in spec["models"]:
        raise RepetitionError("rules about tables are not recomputed; verify a result of tables")
    if not spec["models"]:
        raise RepetitionError("the release was measured only with files that recipients hold")
    if any(str(model).endswith(("ms", "ml")) for model in spec["models"]):  # membership attacks
        raise RepetitionError("the manifest does not name the column or the file of membership")
    source = current_source(stored, inputs)
    if any(d.format in (*CONVERTED, "frame", "spark") for d in source.datasets):
        raise RepetitionError(COPY_REASON)
    collection = spec.get("collection") or {}
    gains = [str(gain).partition(":") for gain in spec.get("gains") or ()]
    options: dict[str, Any] = {
        "qids": [_as_written(name, spec["expressions"]) for name in spec["qids"]],
        "secret": [_as_written(name, spec["expressions"]) for name in spec["secrets"]],
        **{name: spec.get(name) for name in ("weight", "where", "by", "person")},
        # With match-any, results have the numbers with NULL as a value, and bounds (not repeated).
        "null": "distinct" if spec["null"] == "match-any" else spec["null"],
        "key": collection.get("keys") or spec.get("key"),
        "wave": collection.get("wave"),
        "absent": collection.get("absent", "null"),
        "target": spec.get("target"),
        "gain": [f"{kind}{colon}{inputs.paths.get(path, path)}" for kind, colon, path in gains],
        "prior": inputs.paths.get(str(spec.get("prior")), spec.get("prior")),
    }
    models = tuple(map(str, spec["models"]))
    options = {name: value for name, value in options.items() if value}
    repeated = Request(stored, models, source, options, inputs.now, settings)
    _check_columns(repeated)
    return repeated


def current_source(stored: Stored, inputs: Inputs) -> Dataset | Collection:
    """Return the dataset or collection of the manifest, at the paths where the files are now.

    A manifest has the options of reading once for a dataset, or as a list by file for a collection.
    Of one dataset, all files that no other option names are its parts.
    """
    spec = stored.spec
    csv: dict[str, Any] = {"na": spec.get("na") or ()}
    csv_of_files: dict[str, Mapping[str, Any]] = {}
    match spec.get("csv"):  # the options of reading: a list with an entry per file, or one for all
        case list(entries):
            csv_of_files = _csv_by_file(entries)
        case dict(entry):
            csv = entry | csv
    hive = _reads_hive(stored)
    collection = spec.get("collection") or {}
    old_paths = list(inputs.paths)
    if not collection or collection.get("wave"):  # one dataset; waves are parts of one
        side_files = _side_files(spec)  # that options of the attack name
        attacked = [path for path in old_paths if not {path, Path(path).name} & side_files]
        paths = [inputs.paths[path] for path in attacked or old_paths]
        return _open_dataset(str(spec["dataset"]), paths, csv, hive)
    names = list(collection.get("datasets") or [spec["dataset"]])  # one file each
    now = [inputs.paths[_old_path(names, i, old_paths)] for i in range(len(names))]
    datasets = [
        _open_dataset(name, [path], {**csv, **csv_of_files.get(name, {})}, hive)
        for name, path in zip(names, now, strict=True)
    ]
    zipped = [path for path in now if path.casefold().endswith(ZIPPED)]
    if len({*zipped}) < len(zipped):  # the SQL does not tell tables of one .zip apart
        raise RepetitionError(COPY_REASON)
    keys = collection.get("keys") or None
    return Collection.of(datasets, key=keys, absent=collection.get("absent", "null"))


def _reads_hive(stored: Stored) -> bool:
    """Return whether folders such as year=2020 were read as columns: only the SQL says so."""
    return "hive_partitioning = true" in str(stored.manifest["sql"]).casefold()


def named_dataset(stored: Stored, inputs: Inputs, option: str) -> Dataset:
    """Return the file that an option of a manifest of several files names, where it is now."""
    spec = stored.spec
    options = ("people", "dataset")  # in the order of the inputs
    names = [str(spec[role]) for role in options]
    name = str(spec[option])
    path = _old_path(names, options.index(option), list(inputs.paths))
    csv = {**_csv_by_file(spec["csv"]).get(name, {}), "na": (spec.get("na") or {}).get(name, ())}
    return _open_dataset(name, [inputs.paths[path]], csv, _reads_hive(stored))


def _open_dataset(name: str, paths: Sequence[str], csv: Mapping[str, Any], hive: bool) -> Dataset:
    """Return the dataset that the manifest calls ``name`` (file, or table@file), as it was read.

    ``csv`` has the options of reading; ``hive``: folders such as year=2020 are columns.
    """
    table, at, _ = name.rpartition("@")
    is_table = at and Path(paths[0]).name != name  # the name of a file may have an @, too
    dataset = Dataset.open(
        f"{table}@{paths[0]}" if is_table else paths[0],
        **{name: csv[name] for name in CSV_OPTIONS if csv.get(name)},
        na=csv.get("na", ()),
    )
    return dataset if at else replace(dataset, paths=tuple(paths), hive=hive, name=name)


def _csv_by_file(entries: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the options of reading by file; RepetitionError if two of one name differ in them."""
    files: dict[str, Mapping[str, Any]] = {}
    for file in entries:
        name = str(file["name"])
        if files.setdefault(name, file) != file:
            raise RepetitionError(_unknown_files(name))
    return files


def _old_path(names: Sequence[str], i: int, paths: Sequence[str]) -> str:
    """Return which of the manifest's ``paths`` is that of dataset ``i`` of ``names``.

    Datasets may be tables of one file. Different files of one name are in the order of the
    datasets. Raises RepetitionError if the names do not tell the path.
    """
    file_names = [Path(name.rpartition("@")[2]).name for name in names]
    matching = [path for path in paths if Path(path).name == file_names[i]]
    if len(matching) == 1:
        return matching[0]
    if len(matching) != file_names.count(file_names[i]):
        raise RepetitionError(_unknown_files(names[i]))
    datasets_before = file_names[:i].count(file_names[i])  # of the same file name
    return matching[datasets_before]


def _unknown_files(name: str) -> str:
    return f"the manifest does not say which files are those of {name}"


def _side_files(spec: Mapping[str, Any]) -> set[str]:
    """Return the files that the attack reads besides the attacked data: tables of its options."""
    gains = [str(gain).partition(":") for gain in spec.get("gains") or ()]
    of_gains = {path for kind, _, path in gains if kind in ("worth", "matrix")}
    population = spec.get("population")
    files = [population] if isinstance(population, str) else list(population or ())
    if spec.get("knows"):
        files += [law.table for law in laws(list(map(str, spec["knows"])))]
    for recipient in spec.get("recipients") or ():
        files += [*recipient["holds"], *(law.table for law in laws(recipient["laws"] or "x:exact"))]
    files += [spec.get(name) for name in ("prior", "policy", "baseline", "original", "control")]
    return of_gains | {str(file) for file in files if file}


def _as_written(name: str, expressions: Mapping[str, str]) -> str:
    """Return the text that a user writes for a column: its name, or name=expression.

    ``expressions`` has the SQL of computed columns, by their names. ``age:10`` (a coarser form) is
    written by its name, since users give it so.
    """
    if name not in expressions or re.fullmatch(r"[^:]+:[^:]*", name):
        return name
    tree = parsed(expressions[name])
    if isinstance(tree, exp.Column):  # 2:city, a column of the second file of a collection
        return tree.name
    for column in tree.find_all(exp.Column):
        if column.table == SOURCE:  # users write columns without the table
            column.set("table", None)
    quote = '"' if re.search(r"\W", name) else ""
    return f"{quote}{name}{quote}={render(tree)}"


def _check_columns(repeated: Request) -> None:
    """Refuse a request that, bound to the data, differs from its manifest in COMPARED_ENTRIES.

    Raises UnfitError if it cannot be bound to the data, RepetitionError if it differs.
    """
    spec = repeated.stored.spec
    options = {n: v for n, v in repeated.options.items() if n in Options.__annotations__}
    try:
        attack = Attack.of(repeated.models, repeated.source, **cast("Options", options))
        attack = replace(attack, person=repeated.options.get("person"))
        with opened(attack, repeated.settings, joined=False) as (_, bound):
            again = json.loads(json.dumps(Origin.now().of(bound, attack).spec, default=str))
    except InternalError:
        raise
    except (InputError, TypeError) as e:
        raise UnfitError("the request of the manifest does not fit the data it names") from e
    if spec.get("null") == "match-any":  # request() asks for distinct in its place
        again["null"] = "match-any"
    differing = [name for name in COMPARED_ENTRIES if again.get(name) != spec.get(name)]
    if differing:
        raise RepetitionError(f"the manifest does not say enough about {', '.join(differing)}")


def repeat_simple_sql(request: Request) -> Repetition:
    """Return the numbers of a stored attack by the SQL in two levels, with a row per question."""
    reason = "there is no two-level SQL for weights, gains, a prior or collections"
    rows = _rows_of_printed_sql(request, reason, simple=True)
    stored_questions = questions(request.stored)
    if len(rows) != len(stored_questions):  # it does not answer all, such as prefixes
        return Repetition(SIMPLE_WAY)
    numbers: dict[Place, Number] = {}
    for question, row in zip(stored_questions, rows, strict=True):
        numbers |= _numbers_of_row(request.stored, question, row)
    return Repetition(SIMPLE_WAY, numbers)


def repeat_printed_sql(request: Request) -> Repetition:
    """Return the numbers of a stored attack by the whole SQL, with a row for each row of results.

    Rows are matched by model and secret. Of these there is one for each gain: they are in the same
    order in the answers and in the results, so each takes the first that is not used.
    """
    stored = request.stored
    unused: dict[tuple[object, ...], deque[Row]] = {}
    for row in _rows_of_printed_sql(request):
        unused.setdefault((row["model"], row["secret"]), deque()).append(row)
    numbers: dict[Place, Number] = {}
    datasets = stored.frame["datasets"].max()
    for question in questions(stored):
        result = stored.frame.row(question.row, named=True)
        if result["datasets"] != datasets:  # a prefix of the collection is another request
            continue
        if rows := unused.get((result["model"], result["secret"])):
            numbers |= _numbers_of_row(stored, question, rows.popleft())
    return Repetition(PRINTED_WAY, numbers)


def _rows_of_printed_sql(request: Request, reason: str = "", **form: bool) -> list[dict[str, Any]]:
    """Return the rows of all answers of the SQL printed for a request; ``form`` has its options.

    Raises RepetitionError if there is no such SQL, with the ``reason``, if one is named.
    """
    if request.stored.spec.get("suppressed_records"):
        raise RepetitionError(SUPPRESSED_REASON)
    try:
        script = request.script(**form)
    except InputError as e:
        raise RepetitionError(reason or f"no SQL can be printed: {e}") from e
    return [row for answer in request.run(script) for row in answer.lines()]


def _numbers_of_row(stored: Stored, question: Question, row: Row) -> dict[Place, Number]:
    """Return the numbers in a row of an answer, whose columns are called as in the results."""
    values = {name: value for name, value in row.items() if isinstance(value, int | float)}
    return place_results(stored, question.row, values)
