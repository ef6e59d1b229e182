"""One Spark session for the tests of a process, and whether there can be one."""

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase

from qifsql.engine import distributed
from qifsql.engine.settings import Settings
from qifsql.results.result import Result

CONF = (
    "spark.sql.shuffle.partitions=2",
    "spark.default.parallelism=2",
    "spark.sql.codegen.wholeStage=false",  # tables are small: compiling takes longer than reading
    "spark.sql.autoBroadcastJoinThreshold=10000000",
)
SPARK = Settings(engine="spark", master="local[2]", memory="2GiB", spark_conf=CONF)
GENERATED = (Phase.explicit, Phase.reuse, Phase.generate)  # a smaller example takes minutes
MISSING = [
    word
    for word, there in (
        ("pyspark", importlib.util.find_spec("pyspark") is not None),
        ("Java", shutil.which("java") is not None),
    )
    if not there
]
MARKS = (
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(bool(MISSING), reason=f"there is no {' and no '.join(MISSING)}"),
)


@contextmanager
def everything_on_spark() -> Iterator[None]:
    """Leave nothing to DuckDB because a table is small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "ROWS_HERE", -1)
        yield


def assert_equal(call: Callable[[Settings], Result]) -> None:
    """The result on Spark is that of DuckDB: all columns and all details but costs, exactly."""
    here, there = call(Settings(engine="duckdb")), call(SPARK)
    frames: list[tuple[str, Any, Any]] = [("frame", here.frame, there.frame)]
    assert list(here.details) == list(there.details)
    results = [name for name in here.details if name != "plan"]
    frames += [(name, here.details[name], there.details[name]) for name in results]
    for name, one, other in frames:
        if isinstance(one, pl.DataFrame):
            left, right = (f.drop("seconds", strict=False) for f in (one, other))
            assert left.schema == right.schema, name
            assert left.equals(right, null_equal=True), (name, left, right)
        else:
            assert one == other, name
    assert here.notes == there.notes
