"""Results as files, written completely or not at all, with a manifest of their origin."""

import errno
import hashlib
import json
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from polars.selectors import by_name

from qifsql import __version__
from qifsql.adversary.spec import Attack, BoundAttack, ColumnRoles
from qifsql.data import installation
from qifsql.data.column_questions import Repeated
from qifsql.data.dataset import is_of_spark
from qifsql.data.files import MANIFEST
from qifsql.data.frames import digest_of
from qifsql.engine import masks
from qifsql.engine.decoding import public_sql
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.engine.temporary import public_path, unfinished
from qifsql.errors import EngineError, OutputError, quoted, unwritable
from qifsql.query import render
from qifsql.query.plan import Plan
from qifsql.results import parquet

ENDINGS = (".parquet", ".csv", ".json", ".md", ".html", ".xlsx")
INVISIBLE = (  # white space, controls, and marks without width, which some spreadsheets skip
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    r"\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
FORMULA_SIGNS = r"=+\-@\uff0b\uff0d\uff1d\uff20"  # the last four are full-width forms
FORMULA = rf"^(?:[{INVISIBLE}]*[{FORMULA_SIGNS}]|[\t\r\n])"  # texts that a spreadsheet may run
PLAIN_NUMBER = r"^[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?$"
Content: TypeAlias = pl.DataFrame | str | bytes
"""The content of a result file: a table for Parquet, a text, or a workbook."""
STREAMED = (".parquet", ".csv")  # for results with a row per record


@dataclass(frozen=True)
class Origin:
    """The origin of a result: its spec, the SQL that ran, the files that were read.

    ``kind`` is the command of the result, ``notes`` are its remarks, and ``columns`` are all
    columns of the attacked file with their roles. ``engine`` ran the plans; their SQL is in the
    dialect of DuckDB, whichever engine it was. If ``folders`` is false, a manifest names files
    without their folders.
    """

    started: str
    clock: float
    spec: Mapping[str, Any] = field(default_factory=dict)
    plans: tuple[Plan, ...] = ()
    statements: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    seconds: float = 0.0
    seed: int | None = None
    kind: str = ""
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnRoles, ...] = ()
    folders: bool = True
    engine: str = "duckdb"

    @classmethod
    def now(cls, settings: Settings | None = None, kind: str = "") -> "Origin":
        """Return an origin whose clock starts now."""
        seed = settings.seed if settings else None
        started = datetime.now(UTC).isoformat(timespec="seconds")
        engine = (settings or Settings()).engine_name
        return cls(started, time.perf_counter(), seed=seed, kind=kind, engine=engine)

    @property
    def sql(self) -> str:
        """Return every statement that ran, with comments that describe the rows of each step.

        It names the files of the user, also where the engine read private copies of them.
        """
        opened: set[str] = set()  # statements that open files or create tables run once
        scripts = []
        for plan in self.plans:
            first = tuple(s for s in plan.setup if s not in opened)
            opened.update(first)
            scripts.append(render.script(replace(plan, setup=first)))
        statements = (f"{statement};\n" for statement in self.statements)
        return public_sql("\n".join([*scripts, *statements]))

    def of(self, attack: BoundAttack, spec: Attack, *plans: Plan, **more: object) -> "Origin":
        """Return the origin of the result of a bound attack, with its time so far."""
        paths = (*attack.microdata.dataset.paths, *attack.files)
        origin = self.about(_request(attack, spec) | more, paths, *plans)
        return origin.listing(attack.microdata.columns)

    def listing(self, columns: Iterable[ColumnRoles]) -> "Origin":
        """Return a copy with the columns of the attacked file."""
        return replace(self, columns=tuple(columns))

    def sending(self, statements: Iterable[str]) -> "Origin":
        """Return a copy with further statements, each of which ran once or many times."""
        return replace(self, statements=(*self.statements, *statements))

    def reading(self, paths: tuple[str, ...]) -> "Origin":
        """Return a copy with further files that were read."""
        return replace(self, paths=(*self.paths, *paths))

    def about(self, spec: Mapping[str, Any], paths: tuple[str, ...], *plans: Plan) -> "Origin":
        """Return a copy with the spec, the plans that ran, the files that were read, the time."""
        seconds = round(time.perf_counter() - self.clock, 3)
        return replace(self, spec=spec, plans=plans, paths=paths, seconds=seconds)


def _request(attack: BoundAttack, spec: Attack) -> dict[str, Any]:
    """Return the request as plain data for manifests and JSON."""
    collection = {"datasets": list(attack.microdata.releases)} | spec.asked_of_collection
    return {
        "models": [m.acronym for m in attack.models],
        "dataset": attack.microdata.dataset.name,
        "qids": [q.name for q in attack.microdata.qids],
        "secrets": [s.name for s in attack.microdata.secrets],
        "expressions": render.expressions((*attack.microdata.qids, *attack.microdata.secrets)),
        **attack.microdata.dataset.read_with,
        "key": spec.key,
        **repeated_people(attack.microdata.repeated),
        **({"names": names} if (names := _counts(attack.microdata.names)) else {}),
        **({"suppressed_records": hidden} if (hidden := attack.microdata.suppressed) else {}),
        **({"person": spec.person} if spec.person is not None else {}),
        **({"collection": collection} if spec.of_collection else {}),
        "weight": spec.weight,
        "where": spec.where,
        "null": spec.null,
        "target": dict(attack.target) or None,
    }


def repeated_people(columns: Iterable[Repeated]) -> dict[str, Any]:
    """Return, under ``repeated``, the columns that number people if records are counted; else {}.

    Results with this entry are told in words of records.
    """
    repeated = _counts(columns)
    return {"repeated": repeated} if repeated else {}


def _counts(columns: Iterable[Repeated]) -> dict[str, Any]:
    return {r.column: {"values": r.values or None, "records": r.records or None} for r in columns}


def manifest(origin: Origin) -> dict[str, Any]:
    """Return everything needed to check or repeat a result, as plain data."""
    packages = ["duckdb", "polars", "sqlglot", *(["pyspark"] if origin.engine == "spark" else [])]
    return {
        "qifsql": __version__,
        "result": origin.kind,
        "engine": origin.engine,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "spec": dict(origin.spec),
        "columns": [column.plain() for column in origin.columns],
        "notes": list(origin.notes),
        "sql": origin.sql,
        "inputs": digests(origin.paths, folders=origin.folders),
        "seed": origin.seed,
        "started": origin.started,
        "seconds": origin.seconds,
    }


def digests(paths: Iterable[str], *, folders: bool = True) -> list[dict[str, Any]]:
    """Return the path, size and digest of each file, with or without its folder."""
    files = [_digest(p) for p in paths]
    return files if folders else [digest | {"path": Path(digest["path"]).name} for digest in files]


def wrong_ending(path: Path, endings: Iterable[str]) -> OutputError:
    """Return the error about a file whose ending is none of these."""
    name = str(path) if str(path).isprintable() else quoted(str(path))
    return OutputError(f"{name} must end in one of {', '.join(endings)}")


def check_ending(path: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file if its ending is not that of a format, or its format needs an extra."""
    check_output(path)
    if path.suffix.casefold() not in endings:
        raise wrong_ending(path, endings)
    if path.suffix.casefold() == ".xlsx" and find_spec("xlsxwriter") is None:
        raise OutputError(f"Excel files need the extra: {installation.command('excel')}")


def check_output(path: Path) -> None:
    """Refuse standard output (``-``) for a result that is written to a file."""
    if str(path) == "-":
        raise OutputError(
            "this result cannot go to standard output (-); name a file with -o, such as out.csv"
        )


def check_place(path: Path, sources: tuple[str, ...]) -> Path:
    """Refuse a file that cannot be written or is an input; return its path without links.

    Raises OutputError if the folder is missing, or if ``path`` is one of the files that are read.
    """
    with_manifest = path.suffix.casefold() != ".parquet"
    for file in (path, *([path.with_name(path.name + MANIFEST)] if with_manifest else [])):
        try:
            file.lstat()
        except OSError as e:
            if e.errno == errno.ENAMETOOLONG:
                raise OutputError(unwritable(file, e)) from e
    try:
        real = path.resolve()
    except (OSError, RuntimeError) as e:  # a link to itself
        raise OutputError(f"{path} is a broken link; name another file") from e
    if any(real == Path(source).resolve() for source in sources):
        raise OutputError(f"{path} is the input; name another file for the result")
    path = real if path.is_symlink() else path
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}")
    try:
        with unfinished(path.parent, path.suffix):  # make a file there, which is removed at once
            return path
    except OSError as e:
        raise OutputError(unwritable(path, e)) from e


def streamed_place(path: str | Path | None, sources: Iterable[str]) -> Path | None:
    """Return the file for streamed rows, None if no file is named.

    Raises OutputError before any work if the file cannot be written.
    """
    if path is None:
        return None
    check_ending(Path(path), STREAMED)
    return check_place(Path(path), tuple(sources))


@contextmanager
def atomic_file(
    path: Path, origin: Origin, place: Callable[[Path], Path] | None = None
) -> Iterator[Path]:
    """Open a temporary file that replaces ``path`` at the end, or is removed on errors.

    ``place`` returns its name if an engine writes it, because an engine opens no other file.

    Raises OutputError if the folder is missing or cannot be written, or if ``path`` is one of the
    files that were read.
    """
    path = check_place(path, origin.paths)
    name = None if place is None else place(path)
    with ExitStack() as stack:
        try:
            temporary = stack.enter_context(unfinished(path.parent, path.suffix, name))
        except OSError as e:
            raise OutputError(unwritable(path, e)) from e
        try:
            yield temporary
            temporary.chmod(0o666 & ~masks.usual())
            temporary.replace(path)
        except OSError as e:
            raise EngineError(unwritable(path, e), detail=str(e)) from e
        except pl.exceptions.PolarsError as e:
            raise EngineError(f"{path} cannot be written; is the disk full?", detail=str(e)) from e


def write(files: Mapping[Path, Content], origin: Origin) -> None:
    """Write the files of one result, all or none: frames as Parquet, all others as they are.

    The manifest of Parquet is in its metadata ``qifsql``, that of another file is next to it.
    """
    note = manifest(origin)
    beside = manifests_beside(files)
    with ExitStack() as stack:  # all files are replaced when it ends, none if there is an error
        ready = {p: stack.enter_context(atomic_file(p, origin)) for p in (*files, *beside.values())}
        for path, content in files.items():
            if isinstance(content, pl.DataFrame):
                parquet.write(content, ready[path], note)
                continue
            _write_note(ready[beside[path]], note)
            ready[path].write_bytes(content.encode() if isinstance(content, str) else content)


def stream(engine: Engine, plan: Plan, path: Path, origin: Origin, *, what: str) -> int:
    """Write the rows of a plan to a Parquet or CSV file; return their number, which may be large.

    CSV is converted from Parquet: DuckDB 2.0.0 may wait forever if writing CSV fails midway.
    """
    check_ending(path, STREAMED)
    where = str(origin.spec["dataset"])
    with atomic_file(path, origin, engine.unfinished_path) as temporary:
        note = json.dumps(manifest(origin) | {"seconds": None}, default=str)
        if path.suffix.casefold() == ".parquet":
            return engine.copy(plan, temporary, what=what, where=where, note=note)
        between = engine.scratch / "rows.parquet"
        rows = engine.copy(plan, between, what=what, where=where, note=note)
        without_formulas(pl.scan_parquet(between)).sink_csv(temporary)
        write_manifest(path, origin.about(origin.spec, origin.paths, *origin.plans))
        return rows


def manifests_beside(files: Mapping[Path, Content]) -> dict[Path, Path]:
    """Return the path of the manifest of each file that has no manifest inside."""
    plain = [path for path, content in files.items() if not isinstance(content, pl.DataFrame)]
    return {path: path.with_name(path.name + MANIFEST) for path in plain}


def without_formulas(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return the frame for CSV, with texts that no spreadsheet reads as a formula.

    Texts and names that begin with a tab, a line break, =, +, - or @ (even after blanks and marks
    without width) get an apostrophe in front. Texts that are plain numbers do not.
    """
    schema = frame.collect_schema()
    names: dict[str, str] = {}  # further apostrophes tell names apart
    for name in schema:
        new, taken = name, {*names.values(), *schema} - {name}
        while re.match(FORMULA, new) or new in taken:
            new = f"'{new}"
        names[name] = new
    texts = []
    for text in (by_name(name) for name, kind in schema.items() if kind == pl.String):
        formula = text.str.contains(FORMULA) & ~text.str.contains(PLAIN_NUMBER)
        marked = pl.when(formula).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)
        texts.append(marked.name.keep())
    return frame.with_columns(texts).rename(names)


def write_manifest(path: Path, origin: Origin) -> None:
    """Write ``FILE.manifest.json`` next to a file that cannot contain metadata."""
    with atomic_file(path.with_name(path.name + MANIFEST), origin) as temporary:
        _write_note(temporary, manifest(origin))


def _write_note(path: Path, note: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(note, indent=2, default=str) + "\n", "utf-8")


def _digest(path: str) -> dict[str, Any]:
    """Return the path, size and SHA-256 of a file; what Spark reads has only a path."""
    if (of_frame := digest_of(path)) is not None:
        return {"path": "frame", "bytes": 0, "sha256": of_frame}
    if is_of_spark(path):  # no file that can be opened here
        return {"path": path, "bytes": None, "sha256": None}
    with Path(path).open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
    return {"path": public_path(path), "bytes": Path(path).stat().st_size, "sha256": digest}
