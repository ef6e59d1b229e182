"""Small tables whose every text names the column it stands in, and files of them.

A text value holds a *canary*, ``kanwxyz2v7``: a token of the table, the number of the column and
that of the value. Wherever one is found, it is known whose value was shown. Whole numbers of the
kind ``code`` have eight digits that nothing else has, so they are canaries, too.
"""

import csv
import gzip
import io
import random
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]

CANARY = re.compile(r"kan[a-z]{4}\d+v\d+|\b7194\d{4}\b")
HUSH = re.compile(r"HUSH[A-Z]{6}")  # what stands in files and variables that are no inputs
PLAIN_NAMES = (
    *("age", "sex", "city", "zip", "job", "region", "income", "illness", "school", "race"),
    *("birth_date", "education", "country", "status", "hours"),
)
HOSTILE_NAMES = (
    *('"; drop table x', 'dou"ble', "sin'gle", "a b", " a", "a ", " ", "new\nline", "tab\there"),
    *("a,b", "a=b", "=x", "=cmd()", "a.b", "{qid}", "$1", "%s", "a:b", "a;b", "1:a", "2:x", "a+b"),
    *("\U0001f642", "e\u0301", "\u00e9", "\x1b[31mred", "bell\x07", "nul\u2400", "\u202eright"),
    *("select", "NULL", "0", "*", "a*", "[a]", "<b>", "<script>alert(1)</script>", "a|b", "`x`"),
    *("n", "size", "blocks", "microdata", "secret", "qid_1", "weight", "count", "model", "value"),
    *("--quiet", "-x", "ID", "id", "x" * 300, "column0", "_", "\\", "a\\b", "#", "'", '"', "NaN"),
)
KINDS = ("text", "text", "text", "whole", "whole", "code", "real", "yes", "day", "money")
DAY = date(2019, 12, 28)


@dataclass(frozen=True)
class Table:
    """A release with its roles. ``plain``: CSV gives its values back as they are."""

    kinds: Mapping[str, str]
    rows: Sequence[Row]
    key: str
    qids: Sequence[str]
    secrets: Sequence[str]
    weight: str
    plain: bool = True
    files: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """The names in the order of the file."""
        return list(self.kinds)

    def values(self, name: str) -> list[Any]:
        """The different values of a column that are not missing."""
        return list(dict.fromkeys(row[name] for row in self.rows if row[name] is not None))

    def of(self, kind: str) -> list[str]:
        """The quasi-identifiers and secrets of a kind."""
        return [name for name in (*self.qids, *self.secrets) if self.kinds[name] == kind]


def token(rng: random.Random) -> str:
    """Four letters that tell one table's canaries from another's."""
    return "".join(rng.choices(string.ascii_lowercase, k=4))


def table(
    rng: random.Random,
    *,
    rows: int | None = None,
    hostile: float = 0.25,
    columns: int | None = None,
) -> Table:
    """A table of a few dozen people with a key, quasi-identifiers, secrets and a weight."""
    odd, strange = rng.random() < 2 * hostile, rng.random() < hostile
    names = _names(rng, columns or rng.choice((3, 4, 4, 5, 5, 6, 8)), 0.3 if odd else 0)
    word = token(rng)
    kinds = {name: rng.choice(KINDS) for name in names}
    kinds[names[0]] = "text"
    pools = {
        name: _pool(rng, kind, f"kan{word}{i}", strange)
        for i, (name, kind) in enumerate(kinds.items())
    }
    n = rng.choice((1, 2, 5, 12, 20, 40, 60, 120)) if rows is None else rows
    drawn = [{name: rng.choice(pools[name]) for name in names} for _ in range(n)]
    key, weight = _free("id", names), _free("weight", names)
    n_secrets = rng.choice((1, 1, 2)) if len(names) > 2 else 1
    secrets, qids = names[:n_secrets], names[n_secrets:]
    text_key = rng.random() < 0.5
    for i, row in enumerate(drawn):
        row[key] = f"kan{word}{len(names)}v{i}" if text_key else 71940000 + i
        row[weight] = rng.choice((0, 1, 1, 2, 3)) if i else 1
    kinds |= {key: "text" if text_key else "code", weight: "whole"}
    order = [key, *rng.sample(names, len(names)), weight]
    kinds = {name: kinds[name] for name in order}
    drawn = [{name: row[name] for name in order} for row in drawn]
    return Table(kinds, drawn, key, qids, secrets, weight, _plain(names, strange))


def _plain(names: Sequence[str], strange: bool) -> bool:
    return not strange and all(name in PLAIN_NAMES for name in names)


def later(rng: random.Random, first: Table) -> Table:
    """A release of about the same people, a while later: some leave, come, and change."""
    kept = [dict(row) for row in first.rows if rng.random() < 0.85] or [dict(first.rows[0])]
    for row in kept:
        if rng.random() < 0.3:
            name = rng.choice(list(first.qids))
            row[name] = rng.choice(first.rows)[name]
    for i in range(rng.choice((0, 1, 3))):
        new = dict(rng.choice(first.rows))
        known = new[first.key]
        new[first.key] = f"{known}99{i}" if isinstance(known, str) else 71949000 + i
        kept.append(new)
    rng.shuffle(kept)
    return replace(first, rows=kept, files=[])


def _free(name: str, names: Sequence[str]) -> str:
    taken = {n.casefold() for n in names}
    while name.casefold() in taken:
        name += "_"
    return name


def _names(rng: random.Random, n: int, hostile: float) -> list[str]:
    """Names that differ in more than case, since twins are another subject."""
    found: dict[str, str] = {}
    while len(found) < n:
        pool = HOSTILE_NAMES if rng.random() < hostile else PLAIN_NAMES
        name = rng.choice(pool)
        found.setdefault(name.casefold(), name)
    return list(found.values())


def _pool(rng: random.Random, kind: str, canary: str, strange: bool) -> list[Any]:
    """The values that a column takes: few, so that people share them."""
    n = rng.choice((1, 2, 2, 3, 4, 6, 10))
    if kind == "text":
        pool: list[Any] = [f"{canary}v{i}" for i in range(n)]
        if strange:
            pool += [
                form.format(f"{canary}v{i + 50}") for i, form in enumerate(rng.sample(FORMS, 3))
            ]
            pool += rng.sample(["", "NULL", "NaN", "null", "0", "-", "*", "01", "1e5", "\ufeff"], 2)
    elif kind == "whole":
        pool = [rng.randint(-3, 90) for _ in range(n)]
        if strange:
            pool += rng.sample([2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0], 2)
    elif kind == "code":
        pool = [71940000 + rng.randint(0, 9999) for _ in range(n)]
    elif kind == "real":
        pool = [round(rng.uniform(-5, 100), 2) for _ in range(n)]
        if strange:
            reals = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e308, 5e-324]
            pool += rng.sample(reals, 3)
    elif kind == "yes":
        pool = [True, False]
    elif kind == "day":
        pool = [DAY + timedelta(days=rng.randint(0, 900)) for _ in range(n)]
        if strange:
            pool += [date(1, 1, 1), date(9999, 12, 31)]
    else:
        pool = [Decimal(rng.randint(-999, 99999)).scaleb(-2) for _ in range(n)]
    return [*pool, None] if rng.random() < 0.35 else pool


FORMS = [
    *("=cmd|'/C {}'!A0", "<b>{}</b>", "{}\nnext", '"{}"', "'{}", "@{}", " {}", "{} ", "{},{{x"),
    *("<script>alert('{}')</script>", "{}\x1b[31m", "{};", "${{{}}}", "\u00a0={}", "{}\U0001f642"),
]

TYPES = {
    "text": pa.string(), "whole": pa.int64(), "code": pa.int64(), "real": pa.float64(),
    "yes": pa.bool_(), "day": pa.date32(), "money": pa.decimal128(12, 2),
}  # fmt: skip


def arrow(data: Table) -> pa.Table:
    """The table with its types."""
    columns = [pa.array([r[n] for r in data.rows], TYPES[k]) for n, k in data.kinds.items()]
    return pa.Table.from_arrays(columns, names=data.columns)


def as_csv(data: Table, delimiter: str = ",") -> bytes:
    """The same as text: missing is an empty field, an empty text is in quotes."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(data.columns)
    for row in data.rows:
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="").writerow(
            [_text(row[name]) for name in data.columns]
        )
        out.write(line.getvalue() + "\n")
    return out.getvalue().encode("utf-8", "surrogatepass")


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return {True: "true", False: "false"}[cell] if isinstance(cell, bool) else str(cell)


ENDINGS = {
    ".parquet": 40, ".csv": 25, ".tsv": 4, ".csv.gz": 5, ".csv.zst": 3, ".duckdb": 5, "/": 4,
    "*": 3, ".pq": 2,
}  # fmt: skip


def write(data: Table, name: str, ending: str) -> str:
    """Write the table in the working folder; what to call it on the command line."""
    if ending in (".duckdb", "/", "*"):  # their writers know no undecodable names
        name = name.encode("utf-8", "ignore").decode()
    if ending == ".duckdb":
        source = arrow(data)
        with duckdb.connect(f"{name}.duckdb") as connection:
            connection.register("source", source)
            connection.execute("CREATE TABLE people AS FROM source")
        return f"people@{name}.duckdb"
    if ending in ("/", "*"):
        Path(name).mkdir()
        whole = arrow(data)
        half = len(whole) // 2
        pq.write_table(whole.slice(0, half), f"{name}/part-1.parquet")
        pq.write_table(whole.slice(half), f"{name}/part-2.parquet")
        return name if ending == "/" else f"{name}/part-*.parquet"
    path = f"{name}{ending}"
    if ending in (".parquet", ".pq"):
        sink = io.BytesIO()
        pq.write_table(arrow(data), sink)
        Path(path).write_bytes(sink.getvalue())
        return path
    content = as_csv(data, "\t" if ending == ".tsv" else ",")
    if ending == ".csv.gz":
        content = gzip.compress(content, mtime=0)
    if ending == ".csv.zst":
        content = pa.Codec("zstd").compress(content, asbytes=True)
    Path(path).write_bytes(content)
    return path
