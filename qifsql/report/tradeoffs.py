"""Privacy against utility of noisy counts, as people read it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.mechanisms.scenario import INFERRED, LOW
from qifsql.report import cells, words
from qifsql.report.parts import Heading, Paragraph, Part, Spec, Table, Tables

SHORT = {"oblivious": "oblivious", "local": "local", "randomised_response": "response"}
LONG = {
    "oblivious": "oblivious: noise on the count",
    "local": "local: noise on each record",
    "randomised_response": "response: randomised response on each record",
}
Row = Mapping[str, Any]
Written = Callable[[Row], str]


def tradeoff(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """For each predicate a table of epsilons by mechanism, with what the numbers mean."""
    rows = frame.to_dicts()
    parts: list[Part] = [Paragraph(_related(tables["scenario"].row(0, named=True), spec))]
    for number in dict.fromkeys(row["predicate"] for row in rows):
        own = [row for row in rows if row["predicate"] == number]
        parts += [
            Heading(_heading(spec["predicates"], number)),
            _measured(own),
            Paragraph(_meaning(spec["secret"], own[0])),
        ]
    listed = "; ".join(LONG[m] for m in _mechanisms(rows))
    parts.append(Paragraph(f"Mechanisms: {listed}."))
    whole = [row for row in rows if row["predicate"] == rows[-1]["predicate"]]
    promise = "What epsilon promises of one record, whatever the data"
    return [*parts, Heading(promise), _promised(whole), Paragraph(_beliefs(whole))]


def _related(row: Row, spec: Spec) -> str:
    """The scenario of the data in a sentence or two."""
    useful, secret = cells.cell(spec["useful"]), cells.cell(spec["secret"])
    there, back = (
        words.percent(row[name]) for name in ("secret_from_useful", "useful_from_secret")
    )
    told = f"Of the uncertainty about {secret}, knowing {useful} takes away {there}; the other way "
    told += f"round {back}."
    if useful == secret:
        told = f"What is counted is the secret itself, {secret}."
    if row["scenario"] is None:
        return (
            f"{told} They are partly correlated: in none of the four scenarios of the thesis, "
            f"which are below {LOW:.0%} both ways, or {INFERRED:.0%} and more at least one way."
        )
    return f"{told} Scenario {row['scenario']} of the thesis: {row['correlation']}."


def _heading(predicates: Sequence[str], number: int | None) -> str:
    if number is None:
        return f"All {len(predicates)} counts together"
    own = f" {number}" if len(predicates) > 1 else ""
    return f"Count{own}: records where {cells.cell(predicates[number - 1])}"


def _mechanisms(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["mechanism"] for row in rows))


def _table(rows: Sequence[Row], heads: Sequence[str], written: Sequence[Written]) -> Table:
    """A row for each epsilon, and under each mechanism the same columns."""
    mechanisms = _mechanisms(rows)
    names = [f"{'' if i else SHORT[m]}\n{head}" for m in mechanisms for i, head in enumerate(heads)]
    table = Table.of(["\nepsilon", *names], right=range(1, len(names) + 1))
    for given in dict.fromkeys(row["epsilon_given"] for row in rows):
        own = {row["mechanism"]: row for row in rows if row["epsilon_given"] == given}
        table.add_row(given, *(write(own[m]) for m in mechanisms for write in written))
    return table


def _measured(rows: Sequence[Row]) -> Table:
    """Loss and utility by epsilon, between those without a report and without noise."""
    table = _table(rows, ["loss", "utility"], [_loss, _utility])
    first, n = rows[0], len(_mechanisms(rows))
    none = [_factor(first["privacy_loss_min"]), words.percent(first["utility_min"])]
    sure = [_factor(first["privacy_loss_max"]), words.percent(first["utility_max"])]
    table.add_row("no report", *(none * n))
    table.add_row("no noise", *(sure * n))
    return table


def _factor(x: float) -> str:
    return f"x {x:.4f}"


def _loss(row: Row) -> str:
    return f"{'<= ' if row['method'] == 'bound' else ''}{_factor(row['privacy_loss'])}"


def _utility(row: Row) -> str:
    return "" if row["utility"] is None else words.percent(row["utility"])


def _meaning(secret: str, row: Row) -> str:
    """What one row says, in words."""
    secret, seen = cells.cell(secret), several(row["answers"], "noisy answer")
    most = "at most " if row["method"] == "bound" else ""
    told = (
        f"Loss: with epsilon {row['epsilon_given']} ({SHORT[row['mechanism']]}), {secret} of one "
        f"more record is guessed right in {words.percent(row['prior'])} of cases before, and in "
        f"{most}{words.percent(row['posterior'])} after {seen}."
    )
    if row["utility"] is not None:
        known = words.percent(row["utility"])
        told += f" Utility: the best guess of the real count is then right in {known}."
    return told


def _promised(rows: Sequence[Row]) -> Table:
    def loss(row: Row) -> str:
        return words.factor(row["privacy_loss_promised"])

    def beliefs(row: Row) -> str:
        x = row["semantic_distance"]
        return f"{x:.4f}" if x <= 0.9999 else f"{'> 0.9999' if x < 1 else '1'}"

    return _table(rows, ["loss <=", "beliefs"], [loss, beliefs])


def _beliefs(rows: Sequence[Row]) -> str:
    failure = max(row["semantic_failure"] for row in rows)
    told = (
        "From all answers together. beliefs: how far one person's data can move what anybody "
        "believes at most, as statistical difference, 0 to 1"
    )
    if failure:
        told += f"; but with probability up to {words.percent(failure)} nothing is promised"
    return f"{told}."
