"""Show privacy against utility of noisy counts."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isclose

import polars as pl

from qifsql.commands.dp import charts
from qifsql.commands.dp.spec import CORRELATED, INFERRED, LOW
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

SHORT_NAMES = {"oblivious": "oblivious", "local": "local", "randomised_response": "response"}
LONG_NAMES = {
    "oblivious": "oblivious: noise on the count",
    "local": "local: noise on each record",
    "randomised_response": "response: randomised response on each record",
}
KIND = Kind(columns=("epsilon", "privacy_loss"), shared=("scenario", "samples"))


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return, for each predicate, a table of epsilons by mechanism, and its explanation."""
    scenario = tables["scenario"].row(0, named=True)
    parts: list[Part] = [Paragraph(_scenario_sentences(scenario, spec))]
    rows_by_predicate: dict[int | None, list[Row]] = {}  # None: all predicates together
    for row in frame.iter_rows(named=True):
        rows_by_predicate.setdefault(row["predicate"], []).append(row)
    for predicate, rows in rows_by_predicate.items():
        parts += [
            Heading(_heading(spec["predicates"], predicate)),
            _measured_table(rows),
            Paragraph(_row_in_words(spec["secret"], rows[0])),
        ]
        if all(_is_no_loss(row["privacy_loss"]) for row in rows):
            parts.append(Paragraph(_no_loss_sentence(escaping.cell(spec["secret"]), rows[0])))
    if (samples := tables.get("samples")) is not None and samples.height:
        parts += _sample_parts(samples, spec["predicates"])
    listed = "; ".join(said(LONG_NAMES[m]) for m in _mechanisms(rows))
    parts.append(Paragraph(said("Mechanisms: {listed}.", listed=listed)))
    promise = said("What epsilon guarantees for one record, whatever the data")
    # The guarantee is the same for all predicates: ``rows`` are those of the last one above.
    parts += [Heading(promise), _guarantee_table(rows), Paragraph(_beliefs_sentence(rows))]
    prior = rows[0]["prior"]  # no loss is above 1 / prior: then the secret is certain
    if prior < 1 and all(isclose(row["privacy_loss_promised"], 1 / prior) for row in rows):
        capped = said(
            "loss <=: {loss} for every epsilon here, as no loss can be more: the guess is right in "
            "{prior} of cases before. Only smaller epsilons promise more.",
            loss=words.factor(rows[0]["privacy_loss_promised"]),
            prior=words.percent(prior),
        )
        parts.append(Paragraph(capped))
    return parts


def _scenario_sentences(row: Row, spec: Spec) -> str:
    """Describe the scenario of the data in a sentence or two."""
    useful, secret = escaping.cell(spec["useful"]), escaping.cell(spec["secret"])
    text = said(
        "Knowing {useful} removes {there} of the uncertainty about {secret}; the other way "
        "round, {back}.",
        useful=useful,
        secret=secret,
        there=words.percent(row["secret_from_useful"]),
        back=words.percent(row["useful_from_secret"]),
    )
    if useful == secret:
        text = said("What is counted is the secret itself, {secret}.", secret=secret)
    if row["scenario"] is None:
        between = said(
            "They are partly correlated, outside the four scenarios of the thesis: those are "
            "below {low} both ways, or at least {high} one way.",
            low=f"{100 * LOW:.0f} %",
            high=f"{100 * INFERRED:.0f} %",
        )
        return f"{text} {between}"
    correlation = said(CORRELATED[row["scenario"]])
    which = "Scenario {scenario} of the thesis: {correlation}."
    return f"{text} {said(which, scenario=row['scenario'], correlation=correlation)}"


def _heading(predicates: Sequence[str], n: int | None) -> str:
    """Return the heading of the predicate of number n, from 1; None: all together."""
    if n is None:
        return said("All {n} counts together", n=len(predicates))
    predicate = escaping.cell(predicates[n - 1])
    if len(predicates) == 1:
        return said("Count: records where {predicate}", predicate=predicate)
    return said("Count {n}: records where {predicate}", n=n, predicate=predicate)


def _mechanisms(rows: Sequence[Row]) -> list[str]:
    """Return the mechanisms of rows, each once, in their order."""
    return list(dict.fromkeys(row["mechanism"] for row in rows))


def _table_by_epsilon(rows: Sequence[Row], columns: Mapping[str, Callable[[Row], str]]) -> Table:
    """Return a table with a row for each epsilon, and the same ``columns`` for each mechanism.

    A column has its head and the function that writes its cell.
    """
    mechanisms = _mechanisms(rows)
    heads: list[str] = []
    for mechanism in mechanisms:  # the first of its columns is under the name of the mechanism
        first, *others = columns
        heads += [f"{said(SHORT_NAMES[mechanism])}\n{first}", *(f"\n{head}" for head in others)]
    table = Table.of([f"\n{said('epsilon')}", *heads], right=range(1, len(heads) + 1))
    by_question = {(row["epsilon_given"], row["mechanism"]): row for row in rows}
    for epsilon in dict.fromkeys(row["epsilon_given"] for row in rows):
        cells = []
        for mechanism in mechanisms:
            cells += [write(by_question[epsilon, mechanism]) for write in columns.values()]
        table.add_row(number(epsilon), *cells)
    return table


def _measured_table(rows: Sequence[Row]) -> Table:
    """Return loss and utility by epsilon, then without a report and without noise."""

    def loss(row: Row) -> str:
        text = _factor(row["privacy_loss"])
        return f"<= {text}" if row["method"] == "bound" else text

    def utility(row: Row) -> str:
        return "" if row["utility"] is None else words.percent(row["utility"])

    table = _table_by_epsilon(rows, {said("loss"): loss, said("utility"): utility})
    first, n = rows[0], len(_mechanisms(rows))
    none = [_factor(first["privacy_loss_min"]), words.percent(first["utility_min"])]
    sure = [_factor(first["privacy_loss_max"]), words.percent(first["utility_max"])]
    table.add_row(said("no report"), *(none * n))
    table.add_row(said("no noise"), *(sure * n))
    return table


def _sample_parts(samples: pl.DataFrame, predicates: Sequence[str]) -> list[Part]:
    """Return a table of the means and ranges of loss and utility on random samples by predicate."""
    n, size = samples.row(0, named=True)["samples"], samples.row(0, named=True)["sample_size"]
    heading = said("{n} random samples of {size} records", n=words.count(n), size=words.count(size))
    parts: list[Part] = [Heading(heading)]
    heads = [said("epsilon"), said("mechanism"), "", said("mean"), said("interval of the mean")]
    heads += [said("a further sample"), said("all records")]
    for (predicate,), rows in samples.group_by("predicate", maintain_order=True):
        if samples["predicate"].n_unique() > 1:
            parts.append(Paragraph(_heading(predicates, predicate)))
        table = Table.of(heads, right=range(3, len(heads)))
        for row in rows.iter_rows(named=True):
            is_loss = row["measure"] == "privacy_loss"
            name = said("loss") if is_loss else said("utility")
            write = _factor if is_loss else words.percent
            ranges = [
                "-"
                if row[low] is None
                else said("{low} to {high}", low=write(row[low]), high=write(row[high]))
                for low, high in (("mean_low", "mean_high"), ("low", "high"))
            ]
            table.add_row(
                number(row["epsilon_given"]),
                said(SHORT_NAMES[row["mechanism"]]),
                name,
                write(row["mean"]),
                *ranges,
                write(row["all_data"]),
            )
        parts.append(table)
    message = (
        "The mean over all samples of this size is in the first interval at 95 % confidence "
        "(wider than the samples vary, as rare ones may not have been drawn), and a further sample "
        "in the second with a chance of at least 95 % (from 39 samples on)."
    )
    return [*parts, Paragraph(said(message))]


def _factor(x: float) -> str:
    """Return a privacy loss as text."""
    return f"x {words.fixed(x, 4)}"


def _row_in_words(secret: str, row: Row) -> str:
    """Return sentences that explain the loss and the utility of a row, as an example."""
    message = (
        "Loss: with epsilon {epsilon} ({mechanism}), {secret} of one more record is guessed right "
        "in {before} of cases before, and in {after} after {answers}."
    )
    if row["method"] == "bound":
        message = (
            "Loss: with epsilon {epsilon} ({mechanism}), {secret} of one more record is guessed "
            "right in {before} of cases before, and in at most {after} after {answers}."
        )
    loss = said(
        message,
        epsilon=number(row["epsilon_given"]),
        mechanism=said(SHORT_NAMES[row["mechanism"]]),
        secret=escaping.cell(secret),
        before=words.percent(row["prior"]),
        after=words.percent(row["posterior"]),
        answers=counted("{n} noisy answer", "{n} noisy answers", row["answers"]),
    )
    if row["utility"] is None:
        return loss
    right = "Utility: the best guess of the real count is then right in {share}."
    return f"{loss} {said(right, share=words.percent(row['utility']))}"


def _is_no_loss(loss: float) -> bool:
    """Return whether a privacy loss is shown as 1."""
    return f"{loss:.4f}" == "1.0000"


def _no_loss_sentence(secret: str, row: Row) -> str:
    """Return a sentence on a loss of 1 for every epsilon: it is 1 even without noise, or not."""
    message = (
        "Every loss is x {one}: with so much noise the answer does not change the best guess of "
        "{secret} of one more record."
    )
    if _is_no_loss(row["privacy_loss_max"]):
        message = (
            "Every loss is x {one}, even without noise: counting one more record does not "
            "change the best guess of its {secret}."
        )
    return said(message, one=words.fixed(1, 4), secret=secret)


def _guarantee_table(rows: Sequence[Row]) -> Table:
    """Return a table by epsilon: the largest loss and change of beliefs, whatever the data."""

    def loss(row: Row) -> str:
        return words.factor(row["privacy_loss_promised"])

    def beliefs(row: Row) -> str:
        distance = row["semantic_distance"]
        if distance <= 0.9999:
            return words.fixed(distance, 4)
        return number("> 0.9999" if distance < 1 else "1")  # never rounded to 1

    return _table_by_epsilon(rows, {said("loss <="): loss, said("beliefs"): beliefs})


def _beliefs_sentence(rows: Sequence[Row]) -> str:
    """Return a sentence on what ``beliefs`` means, and with which probability it may be more."""
    failure = max(row["semantic_failure"] for row in rows)
    if not failure:
        return said(
            "For all answers together. beliefs: the largest change in anybody's beliefs that "
            "one person's data can cause, as statistical difference, 0 to 1."
        )
    return said(
        "For all answers together. beliefs: the largest change in anybody's beliefs that one "
        "person's data can cause, as statistical difference, 0 to 1; with probability up to "
        "{share} there is no guarantee.",
        share=words.percent(failure),
    )


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    return said("Noisy counts: {name}", name=stored.name), [
        *drawn("dp", partial(charts.tradeoff, stored.frame)),
        *parts(stored.frame, stored.details, stored.spec),
    ]


def headline(stored: Stored) -> list[str]:
    """Return the effect of each count in a sentence, for the first pages of a report."""
    texts = []
    rows = stored.frame.unique("predicate", keep="last", maintain_order=True)
    for row in rows.iter_rows(named=True):
        scale = words.scale(row["prior"], row["posterior"])
        text = said(
            "Noisy counts with epsilon {epsilon}: {secret} of one more record is guessed right for "
            "{before} before, and for at most {after} after.",
            epsilon=number(row["epsilon_given"]),
            secret=escaping.cell(stored.spec["secret"]),
            before=words.share(row["prior"], scale),
            after=words.share(row["posterior"], scale),
        )
        texts.append(text)
    return texts
