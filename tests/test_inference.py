"""Differential inference testing gives what slow Python makes of the paper."""

import math
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_inference as oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from oracle_anonymise import Limits
from strategies import Table, to_arrow
from test_anonymise import doubled, kind, limits_on_secrets, options

import qifsql
from qifsql.errors import InputError


def inferred(table: pa.Table, **options: Any) -> "qifsql.Inference":
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "in.parquet"
        pq.write_table(table, source)
        return qifsql.dit(source, **options)


def of(found: "qifsql.Inference", distance: str) -> dict[str, Any]:
    (row,) = [r for r in found.frame.iter_rows(named=True) if r["distance"] == distance]
    return row


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


@settings(max_examples=60)
@given(doubled(), limits_on_secrets)
def test_all_distances_are_those_of_releases_made_anew(table: Table, limits: Limits) -> None:
    arrow = to_arrow(table)
    secret = table.secrets[0]
    qids = {q: kind(arrow.schema.field(q).type) for q in table.qids}
    how = options(limits) | {"qids": table.qids, "secret": secret}
    expected = oracle.believed(table.rows, qids, secret, limits)
    several = len({oracle.value(row[secret]) for row in table.rows}) > 1
    if expected is None or not several:
        with pytest.raises(InputError):
            inferred(arrow, **how)
        return
    found = inferred(arrow, **how)
    for name, part in (("emd_printed", 4), ("emd", 2)):
        row = of(found, name)
        distances = [oracle.l1(p, q) / part for p, q in expected]
        assert row["records"] == len(table.rows)
        assert row["max"] == pytest.approx(float(max(distances)), abs=1e-12)
        assert row["mean"] == pytest.approx(float(mean(distances)), abs=1e-12)
        around = mean([(d - mean(distances)) ** 2 for d in distances])
        assert row["std"] == pytest.approx(math.sqrt(around), abs=1e-10)
    changed = [oracle.guess(p) != oracle.guess(q) for p, q in expected]
    assert of(found, "emd")["different"] == sum(changed) / len(changed)
