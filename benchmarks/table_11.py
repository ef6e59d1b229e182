"""PoPETs Table 11: attacks before and after k-anonymity and t-closeness by global recoding.

    python benchmarks/table_11.py FILE --hierarchies DIR [--large FILE] [--out FILE.md]

FILE has the columns of the school census, --large the same of another size. DIR has the hierarchies
of the paper's authors, COLUMN.csv (value,node,...,*). That of the school is not among them: here
its code is masked from the right, so that the state, its first two digits, stays longest. Codes of
cities and countries that are made up become listed ones: the n-th of a state its n-th. For each
limit the lattice of each file is searched, at most --budget seconds.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import qifsql

QIDS = (
    *("NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "TP_COR_RACA", "TP_NACIONALIDADE"),
    *("CO_PAIS_ORIGEM", "CO_MUNICIPIO_NASC", "CO_MUNICIPIO_END", "CO_ENTIDADE", "TP_DEPENDENCIA"),
)
SCHOOL, SECRET = "CO_ENTIDADE", "IN_NECESSIDADE_ESPECIAL"
MASKS = tuple(f"{SCHOOL}=left({SCHOOL}::VARCHAR, {n})" for n in range(7, 0, -1))
BRAZIL = 76
LIMITS: tuple[dict[str, Any], ...] = (
    *({"k": k} for k in (4, 12, 20)),
    *({"t": t} for t in ("0.1", "0.3", "0.5")),
)
PUBLISHED = (  # percent: CRS and CAS with certainty, CRS and CAS in one try
    (96.342560, 99.890918, 98.138799, 99.946785),
    (0, 0.048254, 0.008369, 97.556444),
    (0, 0.079773, 0.029857, 97.556444),
    (0, 0.008977, 0.002790, 97.556444),
    (0, 0.008977, 0.002790, 97.556444),
    (0.000023, 0.013258, 0.002750, 97.556444),
    (0.000166, 0.041118, 0.006615, 97.556444),
)
LISTED = """
SELECT made.code, codes[1 + (made.n - 1) % len(codes)] AS listed
FROM (
    SELECT code, code // $part AS part, row_number() OVER (PARTITION BY part ORDER BY code) AS n
    FROM (SELECT DISTINCT {column} AS code FROM read_parquet($file))
    WHERE code > 0 AND code <> $brazil
) AS made
INNER JOIN (
    SELECT column0 // $part AS part, list(column0 ORDER BY column0) AS codes
    FROM read_csv($hierarchy, header = FALSE)
    WHERE column0 > 0 AND column0 <> $brazil
    GROUP BY part
) AS known ON made.part = known.part
"""
CODES = {"CO_MUNICIPIO_NASC": 100_000, "CO_MUNICIPIO_END": 100_000, "CO_PAIS_ORIGEM": 1_000_000}
"""The columns whose codes may be made up, and what their codes are divided by for their state."""


def write_listed(source: Path, hierarchies: Path, out: Path) -> None:
    """Write the records with listed codes."""
    connection = duckdb.connect(config={"memory_limit": "3GB", "preserve_insertion_order": False})
    for column, part in CODES.items():
        given = {"file": str(source), "hierarchy": str(hierarchies / f"{column}.csv")}
        query = LISTED.format(column=column)
        connection.execute(
            f"CREATE TABLE of_{column} AS {query}", given | {"part": part, "brazil": BRAZIL}
        )
    cells = [
        f"coalesce(of_{q}.listed, records.{q})::INTEGER AS {q}" if q in CODES else f"records.{q}"
        for q in (*QIDS, SECRET)
    ]
    joins = [f"LEFT JOIN of_{q} ON records.{q} = of_{q}.code" for q in CODES]
    query = f"SELECT {', '.join(cells)} FROM read_parquet('{source}') AS records {' '.join(joins)}"
    connection.execute(f"COPY ({query}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")


def attacked(file: Path, qids: list[str], settings: qifsql.Settings) -> tuple[float, ...]:
    """Return percent: CRS and CAS with certainty, CRS and CAS in one try, and the prior of CAS."""
    found = qifsql.attack("crs,cas", file, qids=qids, secret=SECRET, settings=settings).frame
    crs, cas = found.to_dicts()
    how = ("posterior_deterministic", "posterior_probabilistic")
    values = [row[h] for h in how for row in (crs, cas)]
    return tuple(100 * value for value in (*values, cas["prior_probabilistic"]))


def released(
    source: Path, out: Path, changes: list[str], settings: qifsql.Settings, **options: Any
) -> tuple[tuple[float, ...], dict[str, Any], list[str]]:
    """Write a release; return what attacks find in it, its summary, and its changes."""
    began = time.perf_counter()
    made = qifsql.anonymise(
        source, out, qids=list(QIDS), change=changes, settings=settings, **options
    )
    row = made.frame.row(0, named=True) | {"wall": time.perf_counter() - began}
    if row["steps"] is not None and "frontier" in made.details:
        chosen = made.details["frontier"].filter(made.details["frontier"]["released"])
        changes = chosen["changes"].item().to_list()
    left = [q for q in QIDS if f"drop={q}" not in changes]
    return attacked(out, left or list(QIDS), settings), row, changes


def told(name: str, found: tuple[float, ...], published: tuple[float, ...], row: str) -> str:
    """Return a line of the table: measured, and published in brackets."""
    pairs = zip(found, published, strict=False)
    return f"| {name} | " + " | ".join(f"{f:.6f} ({p:.6f})" for f, p in pairs) + f" | {row} |"


HEAD = """
| release | CRS certain | CAS certain | CRS one try | CAS one try | classes | penalty |\
 suppressed | search | s |
| --- | --: | --: | --: | --: | --: | --: | --: | --- | --: |"""


TEXT = """# PoPETs Table 11

Made by `benchmarks/table_11.py`. Percent, with the published value in brackets. The paper's census
of 2018 is withdrawn; these records have its shape and none of its people. All 11 quasi-identifiers
of Table 6a; secret: disability. *Certain* is the deterministic measure, *one try* the
probabilistic one.

Assumptions, because the paper does not say: the search suppresses no record; the loss is the mean
normalised certainty penalty (that of ARX may weigh columns otherwise); the school's code is masked
from the right, its state last; t-closeness is that of the equal distance, without k.

What the published table shows, and this one:

- k-anonymity leaves nobody singled out. Certain inferences do not fall with every larger k, because
  each k has steps of its own.
- **t-closeness buys little against inference.** The best guess at the secret is the prior in every
  release, whatever the limit: nearly all pupils have the same value. Some inferences stay certain,
  because a class in which nobody is disabled is closer to the whole than t. Of 1,000,000 records
  t = 0.3 and 0.5 leave more than k = 20. Some people are singled out, as t limits no size.

Values differ because classes differ: fewer records leave fewer classes of k, and one step of one
attribute changes their number by a factor. At 1,000,000 records a class is a larger share, so that
certain inferences and classes per record are more. Where a file has all enrolments, pupils with
several are in it several times, so that fewer of its records are unique.

*Search* says whether the released node is proved to be the best; *s* are seconds for the release.
"""


def main() -> None:
    """Measure both files and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--hierarchies", type=Path, required=True)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--budget", type=float, default=300)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    settings = qifsql.Settings(memory=o.memory, temp=o.folder)
    given = {q: o.hierarchies / f"{q}.csv" for q in QIDS if q != SCHOOL}
    lines, steps = [], ["\n## Steps\n"]
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        for file in filter(None, (o.file, o.large)):
            source, out = Path(folder) / "listed.parquet", Path(folder) / "release.parquet"
            write_listed(file, o.hierarchies, source)
            found = attacked(source, list(QIDS), settings)
            records = duckdb.execute(f"SELECT count(*) FROM '{source}'").fetchall()[0][0]
            lines += [f"\n## {records:,} records, prior of CAS {found[-1]:.6f} %\n{HEAD}"]
            lines += [told("original", found, PUBLISHED[0], " | | | |")]
            print(lines[-2], lines[-1], sep="\n", flush=True)
            for limit, published in zip(LIMITS, PUBLISHED[1:], strict=True):
                options = {"hierarchies": given, "secret": SECRET, "method": "lattice"} | limit
                options |= {"time_budget": o.budget}
                changes = [*MASKS, f"drop={SCHOOL}"]
                found, row, changes = released(source, out, changes, settings, **options)
                best = "optimal" if row["optimal"] else "best in time"
                facts = f"{row['classes']:,} | {row['penalty']:.4f} | {row['suppressed']:,} | "
                name = ", ".join(f"{k} = {v}" for k, v in limit.items())
                facts += f"{best} | {row['wall']:.0f}"
                lines.append(told(name, found, published, facts))
                steps.append(f"- {records:,} records, {name}: {', '.join(changes)}")
                print(lines[-1], changes, flush=True)
    lines += steps
    if o.out:
        o.out.write_text("\n".join([TEXT, *lines, ""]).replace("\n\n\n", "\n\n"), encoding="utf-8")


if __name__ == "__main__":
    main()
