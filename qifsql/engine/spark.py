"""A Spark session with safe settings, for the engine (``distributed``) and for sweeps.

Only this module imports pyspark. A process has one session of qifsql, which stays open until the
process ends or another cluster is named, because a Java machine takes seconds to start.
"""

import atexit
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qifsql.data import installation
from qifsql.engine.dialect import SESSION
from qifsql.engine.settings import URL, Settings, machine_memory, private_folder
from qifsql.engine.temporary import PrivateFolder
from qifsql.errors import (
    INTERRUPTED,
    DatasetError,
    EngineError,
    ExpressionError,
    InputError,
    Interrupted,
    QifError,
    quoted,
)

NO_JAVA = (
    "Spark needs Java 17 or newer, and there is no program java in JAVA_HOME or on the PATH; "
    "install it (apt install openjdk-17-jre-headless), or use --engine duckdb"
)
MASTER = re.compile(
    r"local(\[.*\])?|local-cluster\[.*\]|spark://.+|yarn|k8s://.+", re.IGNORECASE | re.DOTALL
)
CLUSTER = {  # settings of the process, unless the user names others with --spark-conf
    "spark.app.name": "qifsql",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",  # its pages show statements and paths to everybody who asks
    "spark.sql.redaction.string.regex": "(?s).*",
    "spark.log.level": "OFF",  # messages of tasks quote cells
}
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # they quote cells on stderr
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
ENDING = 20  # seconds in which Java ends
WRITTEN = "_SUCCESS"  # the file that Spark writes last
PYTHON = "PYSPARK_PYTHON"  # the environment variable that names the Python of executors
PARTS_PER_THREAD = 2  # partitions of a shuffle on one machine
MEANINGS: tuple[tuple[str, type[QifError], str], ...] = (
    (
        r"OutOfMemory|GC overhead|exit code: (137|143)|OOM",
        EngineError,
        "memory was not enough for {where}; give more with --memory, or on a cluster with "
        "--spark-conf spark.executor.memory=16g",
    ),
    (
        r"(?i)No space left|DiskSpace|quota",
        EngineError,
        "the disk for temporary files is full, while reading {where}; name a folder with more "
        "room with --temp",
    ),
    (
        r"^CAST_",
        ExpressionError,
        "a value of {where} does not fit an expression, a filter or a type; use try_cast in "
        "the expression, or look with --debug",
    ),
    (
        r"^(ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|BINARY_ARITHMETIC)",
        ExpressionError,
        "a number of {where} is too large for its type; cast it to a larger one, or use "
        "--engine duckdb",
    ),
    (
        r"^(TABLE_OR_VIEW_NOT_FOUND|SCHEMA_NOT_FOUND|PATH_NOT_FOUND)",
        DatasetError,
        "{where} does not exist, or Spark cannot reach it; check the name",
    ),
    (
        r"^(FAILED_READ_FILE|CANNOT_READ|UNABLE_TO_INFER_SCHEMA)",
        DatasetError,
        "{where} cannot be read by Spark: it is corrupt, truncated or not Parquet",
    ),
)
"""Patterns of a condition of Spark and its message, each with the error that it means."""


@dataclass
class Process:
    """The session that this process opened, the options it was opened with, and its folder."""

    session: Any = None
    options: tuple[tuple[str, str], ...] = ()
    folder: PrivateFolder | None = None

    def close(self) -> None:
        """Stop the session and remove its folder; the user's sessions are not touched."""
        if self.session is not None:
            with suppress(Exception):  # the Java machine may have ended
                self.session.stop()
            from pyspark import SparkContext

            gateway: Any = SparkContext._gateway
            SparkContext._gateway = SparkContext._jvm = None
            with suppress(Exception):  # Java has files in the folder until it ends
                gateway.shutdown()
                gateway.proc.stdin.close()
                gateway.proc.wait(timeout=ENDING)
        if self.folder is not None:
            self.folder.remove()
        self.session, self.options, self.folder = None, (), None


_PROCESS = Process()


def session(settings: Settings) -> Any:
    """Return a Spark session for these settings, with the SQL settings that results depend on.

    It is the user's session (``settings.session``) with SQL settings and views of its own, or the
    session of this process, which is opened when it is first needed.

    Raises:
        InputError: pyspark or Java is missing, or an option is invalid.
        EngineError: The cluster cannot be reached, or Spark does not start.

    """
    options = spark_options(settings)
    if settings.session is not None:
        try:
            user_session = settings.session.newSession()
        except Exception as e:
            raise EngineError(
                "the SparkSession cannot be used: it is stopped, or is not a session of Spark 4",
                detail=str(e),
            ) from e
        _check_version(user_session)
        return _with_settings(user_session)
    if _PROCESS.session is None or _PROCESS.options != options or not _is_running(_PROCESS.session):
        _open_session(settings, options)
    return _with_settings(_PROCESS.session.newSession())


def spark_options(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return the options that ``--master`` and ``--spark-conf`` set, sorted by name.

    Raises InputError if one of them is invalid, or would change results.
    """
    options: dict[str, str] = {}
    for text in settings.spark_conf:
        key, equal, value = text.partition("=")
        if not equal or not re.fullmatch(r"[\w.-]+", key.strip()):
            raise InputError(
                f"spark_conf {quoted(key)} is not KEY=VALUE; write, for example, "
                "spark.executor.memory=8g"
            )
        if key.strip() in SESSION:
            raise InputError(
                f"spark_conf {key.strip()} cannot be changed, because results depend on it"
            )
        options[key.strip()] = value.strip()
    if settings.master is not None:
        if not MASTER.fullmatch(settings.master):
            raise InputError(
                f"master {quoted(settings.master)} is not the address of a Spark cluster; use "
                "local[2], spark://HOST:7077, yarn or k8s://URL"
            )
        options["spark.master"] = settings.master
    if settings.session is not None and options:
        raise InputError("a SparkSession has its own master and settings; give one or the other")
    return tuple(sorted(options.items()))


def is_local(spark: Any) -> bool:
    """Return whether the executors of a session are on this machine."""
    return str(spark.sparkContext.master).casefold().startswith("local")


def file_states(spark: Any, view: str) -> list[list[Any]]:
    """Return the name, length in bytes and time of change of the files that a view reads."""
    java, states = spark._jvm, list[list[Any]]()
    for name in sorted(spark.table(view).inputFiles()):
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(name))
        status = path.getFileSystem(spark._jsc.hadoopConfiguration()).getFileStatus(path)
        states.append([name, status.getLen(), status.getModificationTime()])
    return states


def _with_settings(spark: Any) -> Any:
    """Return the session with the SQL settings that results depend on."""
    for name in LOGGERS:
        logging.getLogger(name).disabled = True
    for key, value in SESSION.items():
        spark.conf.set(key, value)
    return spark


def _is_running(spark: Any) -> bool:
    """Return whether a session was not stopped meanwhile."""
    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except Exception:
        return False


def _check_version(spark: Any) -> None:
    """Refuse a session of an older Spark, whose numbers differ."""
    if int(str(spark.version).partition(".")[0]) < 4:
        raise InputError(f"Spark {spark.version} is too old; qifsql needs Spark 4")


def _open_session(settings: Settings, options: tuple[tuple[str, str], ...]) -> None:
    """Open the session of this process; close one with other options before.

    If Spark does not start, what Java wrote meanwhile is the ``detail`` of the error.
    """
    _check_installed()
    from pyspark import sql

    _PROCESS.close()
    if (active := sql.SparkSession.getActiveSession()) is not None and _is_running(active):
        raise InputError(
            "a SparkSession is open in this process; give it to qifsql: Settings(session=spark)"
        )
    parent = settings.temp if isinstance(settings.temp, Path) else None
    folder = private_folder(parent)
    log = folder.path / "spark.log"
    try:
        builder = _builder(settings, dict(options), folder.path)
        with _errors_into(log), _set_python():
            spark = builder.getOrCreate()
    except BaseException as e:
        words = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        folder.remove()
        if not isinstance(e, Exception):
            raise
        raise EngineError(
            "Spark does not start: check --master, --spark-conf and the version of Java (17 or "
            "newer); --debug shows more",
            detail="\n".join([str(e), *words.splitlines()[-20:]]),
        ) from e
    _PROCESS.session, _PROCESS.options, _PROCESS.folder = spark, options, folder
    _check_version(spark)


def _check_installed() -> None:
    """Refuse a machine without pyspark or Java."""
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as e:
        raise InputError(f"Spark needs the extra: {installation.command('spark')}") from e
    home = os.environ.get("JAVA_HOME")  # if it is set, Spark looks only there
    if not ((Path(home) / "bin" / "java").is_file() if home else shutil.which("java")):
        raise InputError(NO_JAVA)


def _builder(settings: Settings, options: dict[str, str], folder: Path) -> Any:
    """Return the builder of a session; ``settings`` limit memory and threads of this machine."""
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    conf = SparkConf()
    master = options.get("spark.master") or conf.get("spark.master")
    if not master:
        master = f"local[{settings.threads}]" if settings.threads else "local[*]"
    preset = {**CLUSTER, "spark.master": str(master), "spark.local.dir": str(folder)}
    if str(master).casefold().startswith("local"):
        threads = settings.threads or os.cpu_count() or 1
        preset |= {
            **LOCAL,
            "spark.driver.memory": f"{memory_of(settings) // 2**20}m",
            "spark.sql.shuffle.partitions": str(PARTS_PER_THREAD * threads),
            "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        }
    elif settings.memory or settings.threads:
        raise InputError(
            "memory and threads are limits of this machine; for a cluster use --spark-conf "
            "spark.executor.memory=8g and spark.executor.cores=4"
        )
    builder = SparkSession.builder
    for key, value in {**preset, **options, **SESSION}.items():
        builder = builder.config(key, value)
    return builder


def memory_of(settings: Settings) -> int:
    """Return the memory for Java on this machine in bytes: half of the limit."""
    text = settings.memory_limit or "2GB"
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if parts is None or float(parts[1]) <= 0:
        raise InputError(f"memory={text} cannot be used; give a size such as 8GB")
    number, prefix, binary = parts.groups()
    power = " KMGT".index(prefix.upper() or " ")
    size = int(float(number) * (1024 if binary else 1000) ** power)
    least = 512 * 2**20  # Java refuses less than 450 MiB
    size = min(size, machine_memory() or size) // 2
    if size < least:
        raise InputError(f"memory={text} is too little for Spark; give at least 1GiB")
    return size


def failure(error: BaseException, where: str) -> QifError:
    """Return the error of ``qifsql.errors`` that has the same meaning as an error of Spark.

    Spark's message may quote cells, so that it becomes the ``detail``.
    """
    detail = str(error)
    # Spark's name for the error, which earlier versions call its class
    name_of = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    text = f"{(name_of and name_of()) or ''}: {detail}"
    for pattern, kind, message in MEANINGS:
        if re.search(pattern, text):
            return kind(message.format(where=where), detail=detail)
    if "cancelled" in detail and "job" in detail.casefold():
        return Interrupted(INTERRUPTED)
    return EngineError(f"Spark failed on {where}; --debug shows more", detail=detail)


@contextmanager
def _errors_into(path: Path) -> Iterator[None]:
    """Give programs that start inside a private file as stderr: Java may quote cells there."""
    sys.stderr.flush()
    before = os.dup(2)
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(file)


@contextmanager
def _set_python() -> Iterator[None]:
    """Let executors on this machine run this Python, unless the user names another one."""
    before = os.environ.get(PYTHON)
    os.environ.setdefault(PYTHON, sys.executable)
    try:
        yield
    finally:
        if before is None:
            del os.environ[PYTHON]


def close() -> None:
    """Stop the session of this process, and remove what it has on disk."""
    _PROCESS.close()


atexit.register(close)


class Folders:
    """A folder of tables that all executors reach.

    On a cluster it is a folder with a private name in the one that ``--temp`` names. ``scratch`` is
    the folder of this machine for copies.
    """

    def __init__(self, spark: Any, root: str, scratch: Path) -> None:
        """Create the folder ``root``: a path, or a URL of a file system of Hadoop."""
        self._root = root
        self._scratch = scratch
        self._system: Any = None  # the file system of a URL; None: the folder is on this machine
        if URL.match(root):
            java = spark._jvm
            self._path = java.org.apache.hadoop.fs.Path
            self._system = self._path(root).getFileSystem(spark._jsc.hadoopConfiguration())
            permission = java.org.apache.hadoop.fs.permission.FsPermission("700")
            if not self._system.mkdirs(self._path(root), permission):
                raise InputError(f"the folder for temporary files ({root}) cannot be created")
        else:
            Path(root).mkdir(mode=0o700, exist_ok=True)

    def make(self, name: str) -> str:
        """Return the place of a new table."""
        return f"{self._root}/{name}"

    def here(self, folder: str) -> Path | None:
        """Return the folder of a table if it is on this machine."""
        return Path(folder) if self._system is None else None

    def has(self, folder: str) -> bool:
        """Return whether a table was written to its end."""
        if self._system is None:
            return (Path(folder) / WRITTEN).exists()
        return bool(self._system.exists(self._path(f"{folder}/{WRITTEN}")))

    def put(self, file: Path, folder: str) -> None:
        """Move a file of this machine into the folder of a table."""
        if self._system is None:
            Path(folder).mkdir(mode=0o700)
            file.rename(Path(folder) / file.name)
        else:
            self._system.copyFromLocalFile(True, self._path(str(file)), self._path(f"{folder}/"))

    def fetch(self, folder: str) -> Path:
        """Copy the folder of a table to this machine; return the copy."""
        copy = self._scratch / folder.rpartition("/")[2]
        self._system.copyToLocalFile(False, self._path(folder), self._path(str(copy)), True)
        return copy

    def drop(self, folder: str) -> None:
        """Remove the folder of a table, and its copy."""
        shutil.rmtree(self._scratch / folder.rpartition("/")[2], ignore_errors=True)
        self._delete(folder)

    def remove(self) -> None:
        """Remove all tables; those on this machine in the folder of the engine go with it."""
        if self._root != str(self._scratch):
            self._delete(self._root)

    def _delete(self, folder: str) -> None:
        """Remove a folder with all it has, if it is there."""
        if self._system is None:
            shutil.rmtree(folder, ignore_errors=True)
            return
        with suppress(Exception):  # the session may have ended
            self._system.delete(self._path(folder), True)


def folders_of(
    spark: Any, settings: Settings, scratch: Path, lasting: Path | None = None
) -> Folders:
    """Return the folder of kept tables; InputError if executors would not reach it.

    It is ``scratch``, the folder of the engine that is removed with it, or ``lasting`` if tables
    are kept longer. If ``--temp`` is a URL, it is the folder of the same name there.
    """
    if isinstance(settings.temp, str):
        root = f"{settings.temp.rstrip('/')}/{(lasting or scratch).name}"
        try:
            return Folders(spark, root, scratch)
        except InputError:
            raise
        except Exception as e:
            raise InputError(
                f"the folder for temporary files ({settings.temp}) cannot be used: Spark does not "
                "reach it; name another with --temp",
                detail=str(e),
            ) from e
    if not is_local(spark):
        raise InputError(
            "the executors of a cluster need a folder for temporary data that all of them reach; "
            "name it with --temp, such as hdfs:///tmp or s3a://BUCKET/tmp"
        )
    return Folders(spark, str((lasting or scratch).absolute()), scratch)
