"""What guesses about people owe to their own records, as people read it."""

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

from qifsql.differential.question import BAYES
from qifsql.differential.testing import Inference
from qifsql.errors import several
from qifsql.report import cells, words
from qifsql.report.parts import Heading, Paragraph, Part, Table

Row = Mapping[str, Any]
NAMES = {
    "emd_printed": "EMD as printed",
    "emd": "EMD",
    "max_divergence": "max divergence",
    "emd_hierarchy": "EMD in the hierarchy",
}
MEANING = {
    "emd_printed": "EMD as printed: a quarter of the sum of all changes of probability, the "
    "formula of the paper, to compare with its figures.",
    "emd": "EMD: half of that sum (earth mover's distance, every two values one apart): how much "
    "the probability of any set of values changes at most.",
    "max_divergence": "max divergence: the largest difference of the logarithm of a probability, "
    "as in differential privacy.",
    "emd_hierarchy": "EMD in the hierarchy: how much probability is carried over its edges.",
}


def inference(result: Inference) -> list[Part]:
    """A sentence and a row for each run and distance, and what the numbers mean."""
    rows = result.frame.to_dicts()
    each = [row for row in rows if row["distance"] == "emd"]
    parts: list[Part] = [Paragraph(_asked(result, each[0]))]
    parts += [Paragraph(_told(row, len(each) > 1), strong=True) for row in _ends(each)]
    parts += [Heading("How far a guess moves without the person"), _distances(result, rows)]
    parts += [Paragraph(MEANING[name]) for name in dict.fromkeys(row["distance"] for row in rows)]
    endless = max(rows, key=lambda row: row["infinite"])
    parts += [Paragraph(_endless(endless))] if endless["infinite"] else []
    parts.append(Paragraph(_epsilon(each)))
    return parts


def run(row: Row) -> str:
    """What a run is called."""
    limits = [f"k={row['k']}"] if row["k"] is not None else ["release"]
    return " ".join([*limits, *([row["limits"]] if row["limits"] else [])])


def _ends(rows: Sequence[Row]) -> Sequence[Row]:
    """The first run and the last."""
    return rows if len(rows) <= 2 else [rows[0], rows[-1]]


def _asked(result: Inference, row: Row) -> str:
    secret = cells.cell(result.secret)
    who = "naive Bayes" if row["classifier"] == BAYES else f"a {row['classifier']}"
    return (
        f"For each of {several(row['records'], 'person')}: what {who} guesses of their {secret} "
        "from their own quasi-identifiers, once from the release with their record and once from "
        "the one without."
    )


def _told(row: Row, named: bool) -> str:
    """What a run means for a person."""
    head = f"{run(row)}: whoever" if named else "Whoever"
    mean, most = (f"{100 * row[name]:.2g}" for name in ("mean", "max"))
    other = f"For {words.frequency(row['different'])} the best guess becomes another value."
    if not row["different"]:
        other = "The best guess stays the same for everybody."
    return (
        f"{head} takes part changes the guess about themselves by at most {most} percentage "
        f"points, {mean} on average. {other}"
    )


def _distances(result: Inference, rows: Sequence[Row]) -> Table:
    limits = any(row["limits"] for row in rows)
    points = sorted(set(result.details["thresholds"]["point"]))
    heads = ["\nk", *(["\nlimits"] if limits else []), "\ndistance", "\nmean", "\nstd"]
    heads += ["\nlargest", *(f"above\n{point:.3g}" for point in points), "other\nguess"]
    table = Table.of(heads, right=[0, *range(len(heads) - len(points) - 4, len(heads))])
    above = {
        (r["run"], r["distance"], r["point"]): r["share"]
        for r in result.details["thresholds"].iter_rows(named=True)
    }
    before = None
    for row in rows:
        first = row["run"] != before
        before = row["run"]
        own = [str(row["k"]) if first and row["k"] is not None else ""]
        own += [row["limits"] or "" if first else ""] if limits else []
        own += [NAMES[row["distance"]], *(_number(row[name]) for name in ("mean", "std", "max"))]
        own += [words.percent(above[row["run"], row["distance"], p]) for p in points]
        table.add_row(*own, words.percent(row["different"]) if first else "")
    return table


def _number(x: float | None) -> str:
    if x is None:
        return ""
    return "infinite" if isinf(x) else f"{x:.5f}"


def _endless(row: Row) -> str:
    """Of whom a distance is infinite."""
    return (
        f"Where it is infinite, a value is possible with the person and impossible without them "
        f"({run(row)}: {several(row['infinite'], 'person')}); mean and std are over the others."
    )


def _epsilon(rows: Sequence[Row]) -> str:
    lost = max(row["records"] for row in rows)
    return (
        f"The largest distance over {several(lost, 'person')} is the epsilon of the paper: the "
        "release is (epsilon, 0)-differentiable for every epsilon above it. It is a property of "
        "these data and this classifier, and no guarantee for others."
    )
