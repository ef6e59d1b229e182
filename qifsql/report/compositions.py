"""A composition as people read it: what each release told, what they tell together."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import cells, words
from qifsql.report.parts import Heading, Paragraph, Part, Spec, Table, Tables

FEW = 6  # levels of the curve that are all shown
SHOWN = (0.1, 0.25, 0.5, 0.75, 1.0)  # of more levels

Row = Mapping[str, Any]


def composition(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Each release beside all together, in numbers and sentences; the curve of confidence."""
    row = frame.row(-1, named=True)
    each = tables["releases"].to_dicts()
    parts: list[Part] = [
        Heading(_heading(row, spec)),
        _releases(row, each),
        Paragraph(sentence(row)),
    ]
    if frame.height > 1:
        parts.append(_progress(frame.to_dicts()))
    last = tables["curve"].filter(pl.col("releases") == row["releases"]).to_dicts()
    parts += _curve(last, row["people"])
    if "truth" in tables:
        parts.append(Paragraph(_right(tables["truth"].row(0, named=True))))
    return parts


def _heading(row: Row, spec: Spec) -> str:
    many, people = several(row["releases"], "release"), several(row["people"], "person")
    return (
        f"Inference of {_secret(spec['secrets'])} from {many} about {people}, "
        f"knowing {words.listed([cells.cell(q) for q in spec['known']])}"
    )


def _secret(names: Sequence[str]) -> str:
    return cells.cell(names[0])


def _releases(row: Row, each: Sequence[Row]) -> Table:
    """A column for each release and one for all together."""
    heads = ["", *(cells.cell(r["release"]) for r in each), "together"]
    table = Table.of(heads, right=range(1, len(heads)))

    def add(name: str, written: Sequence[str], both: str = "") -> None:
        table.add_row(name, *written, both)

    add("records", [words.count(r["records"]) for r in each])
    add("classes", [words.count(r["classes"]) for r in each])
    add("smallest class (k)", [_count(r["smallest_class"]) for r in each])
    if any(r["suppressed"] for r in each):
        add("suppressed records", [words.count(r["suppressed"]) for r in each])
    add("people in one class", [words.count(r["in_one_class"]) for r in each])
    for name, column in (
        ("in several", "in_several"),
        ("in no class", "in_no_class"),
        ("in none but suppressed", "only_suppressed"),
    ):
        if any(r[column] for r in each):
            add(name, [words.count(r[column]) for r in each])
    add("found in all", [""] * len(each), words.count(row["located"]))
    if row["contradictions"]:
        add("contradictions", [""] * len(each), words.count(row["contradictions"]))
    add("records like them", [_number(r["partition_size"]) for r in each])
    effective = [_number(r["effective_anonymity"]) for r in each]
    add("values possible (effective anonymity)", effective, _number(row["effective_posterior"]))
    for name, column, both in (
        ("with a single value", "perfect_breach", "perfect_breach"),
        ("with fewer together", "vulnerable", "vulnerable"),
    ):
        add(name, [words.count(r[column]) for r in each], words.count(row[both]))
    chances = [_percent(r["success"]) for r in each]
    add("best guess is right", chances, _percent(row["posterior_success"]))
    return table


def sentence(row: Row) -> str:
    """What the releases do to people's anonymity, in sentences."""
    people = row["people"]
    clear = row["located"] - row["contradictions"]
    if not clear:
        return "Nobody is found in all releases with a value left, so there is nothing to tell."
    told = (
        f"Where one release left {_number(row['effective_prior'])} values possible on average, "
        f"all together leave {_number(row['effective_posterior'])}. "
    )
    if row["releases"] == 1:
        told = f"On average {_number(row['effective_posterior'])} values are possible. "
    else:
        told += (
            f"{_of(row['vulnerable'], people)} "
            f"{_verb(row['vulnerable'], 'lose', 'loses')} anonymity by that. "
        )
    n, before = row["perfect_breach"], row["perfect_breach_before"]
    told += f"For {_of(n, people)} a single value is left"
    if n and row["releases"] > 1:
        told += f"; one release was enough for {words.count(before)} of them" if before else ""
    told += "."
    if row["contradictions"]:
        told += (
            f" For {words.count(row['contradictions'])} no value is left: the releases contradict "
            "each other about them."
        )
    return told


def _progress(rows: Sequence[Row]) -> Table:
    """A row for the first releases together, one more each time."""
    heads = [
        "first releases",
        "found in all",
        "values possible",
        "with a single value",
        "lose anonymity",
    ]
    table = Table.of([*heads, "best guess is right"], right=range(6))
    for row in rows:
        table.add_row(
            str(row["releases"]),
            words.count(row["located"]),
            _number(row["effective_posterior"]),
            _percent(row["perfect_breach_share"]),
            _percent(row["vulnerable_share"]),
            _percent(row["posterior_success"]),
        )
    return table


def _curve(rows: Sequence[Row], people: int) -> list[Part]:
    """Shares of the people by confidence."""
    if len(rows) > FEW:
        rows = [row for row in rows if row["confidence"] in SHOWN]
    heads = ["confidence of at least", "one release", "together", "best guess"]
    table = Table.of(heads, right=range(4))
    for row in rows:
        level = f"{100 * row['confidence']:.4g} %"
        shares = [row["share_before"], row["share"], row["share_guessed"]]
        table.add_row(level, *map(_percent, shares))
    told = f"Share of the {several(people, 'person')} by the adversary's confidence:"
    return [Paragraph(told), table]


def _right(row: Row) -> str:
    """How often the adversary is right, where the truth is known."""
    left = _of(row["true_value_left"], row["located"])
    right, single = words.count(row["perfect_breach_right"]), words.count(row["perfect_breach"])
    told = (
        f"The true value is among those left for {left}; "
        f"{right} of {single} single values are right"
    )
    if row["best_guess_right"] is not None:
        told += f", and the best guess for {_of(row['best_guess_right'], row['located'])}"
    return f"{told}."


def _of(n: int, people: int) -> str:
    share = _percent(n / people if people else None)
    return f"{words.count(n)} of {several(people, 'person')} ({share})"


def _verb(n: int, many: str, one: str) -> str:
    return one if n == 1 else many


def _count(n: int | None) -> str:
    return "none" if n is None else words.count(n)


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:,.2f}".rstrip("0").rstrip(".")


def _percent(x: float | None) -> str:
    return "-" if x is None else words.percent(x)
