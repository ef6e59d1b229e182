"""Measures and tables of details, shown below each result."""

from collections.abc import Iterable, Mapping

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Table, Tables
from qifsql.presentation.table_columns import drawn, number, percent, tabulate, text

LONGEST_BAR = 40  # characters of the longest bar of a histogram
BAND = 10  # percent per bar
QUESTION = ("model", "secret", "known_records")  # columns that tell the questions of a sweep apart
MOST_VALUES = 20  # of a secret, whose chances are shown
TWO_CANDIDATES = (
    "Harm needs no certainty. Of two candidates for a job, {secret} is {value} with a chance of "
    "{high} for the first, one of the 5 of 100 people who are most suspected of it, and of {low} "
    "for the second. Whoever prefers the second guesses, and may do the first a certain harm."
)


def measured(row: Row) -> list[Part]:
    """Return the table of the measures of a row besides success; [] if none was asked for.

    A measure that was not asked for has no column in the row; where it has no value, it is None.
    """
    heads = ["", said("before"), said("after"), said("difference")]
    table = Table.of(heads, right=(1, 2, 3))
    if row.get("prior_entropy") is not None:  # of people with one record known: not measured
        columns = ("prior_entropy", "posterior_entropy", "mutual_information")
        bits = (words.significant(row[c]) for c in columns)
        table.add_row(said("uncertainty (Shannon, bits)"), *bits)
    if row.get("prior_guessing") is not None:
        tries = (words.significant(row[c]) for c in ("prior_guessing", "posterior_guessing"))
        table.add_row(said("guesses until right"), *tries)
    if row.get("capacity") is not None:
        table.add_row(said("capacity (at most)"), "", "", words.factor(row["capacity"]))
    if row.get("pointwise_mean") is not None:
        mean = words.significant(row["pointwise_mean"])
        table.add_row(said("leakage of a block (bits, mean)"), "", "", mean)
        if row["pointwise_worst"] is not None:  # not shown to others where a block is small
            worst = words.significant(row["pointwise_worst"])
            table.add_row(said("leakage of a block (bits, greatest)"), "", "", worst)
    for name, title, draw in (
        ("bayes_security", said("Bayes security"), words.percent),
        ("prosecutor_risk", said("prosecutor risk"), words.percent),
        ("journalist_risk", said("journalist risk"), words.percent),
        ("marketer_risk", said("marketer risk"), words.percent),
        ("k", said("{people} in the smallest block (k)", people=words.people()), words.count),
        ("l", said("fewest values in a block (l)"), words.count),
    ):
        if row.get(name) is not None:
            table.add_row(title, "", draw(row[name]))
    return [table] if table.rows else []


def of_row(row: Row, details: Mapping[str, pl.DataFrame]) -> list[Part]:
    """Return the details of one row of results, from tables by name, such as "histogram"."""
    rows = {n: t.filter(attack_id=row["attack_id"]) for n, t in details.items() if n in DRAWINGS}
    if rows.get("sure", pl.DataFrame()).height:
        rows.pop("thresholds", None)  # "sure" says the same, and more
    return [
        part
        for n, draw in DRAWINGS.items()
        if rows.get(n, pl.DataFrame()).height
        for part in draw(row, rows[n])
    ]


def _histogram(_row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return a table with a bar for every ten percent of success; the last bar is only for 100.

    ``detail`` has a row per whole percentage (``bin``, 0 to 100) and its people, ``individuals``.
    """
    bands = detail.group_by(band=pl.col("bin") // BAND).agg(n=pl.col("individuals").sum())
    bands, largest = bands.sort("band"), max(bands["n"].to_list())
    table = Table.of([said("success"), words.people(), ""], right=(0, 1))
    for band, n in bands.iter_rows():
        low = band * BAND
        label = "100 %" if low == 100 else f"{low}-{low + BAND - 1} %"
        bar = "\N{FULL BLOCK}" * round(LONGEST_BAR * n / largest)
        table.add_row(label, words.count(n), bar or ("\N{LEFT ONE EIGHTH BLOCK}" if n else ""))
    return [table]


def _thresholds(row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return the table of the people whose success is at least each threshold."""
    columns = [
        (said("at least"), lambda line: words.success(row, line["threshold"])),
        (words.people(), number("individuals")),
        (said("share"), percent("share")),
    ]
    return [tabulate(detail.iter_rows(named=True), columns, texts=())]


def claims_parts(row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return a table of the people whom a sure adversary names, and a sentence.

    If a secret is missing for some, one more sentence is about those who report it.
    """

    def threshold(line: Row) -> str:
        is_known = line["threshold"] is not None  # one that tells the size of a block is hidden
        sure = f"{words.digits(100 * line['threshold'])} %" if is_known else ""
        return f"{sure} {said('(greatest loss)')}" if line["greatest"] else sure

    columns = [
        (said("when at least"), threshold),
        (said("{people} named", people=words.people()), number("claims")),
        (said("guessed right"), drawn("right", lambda right: words.count(round(right)))),
        (said("share"), percent("precision")),
        (said("before"), percent("precision_before")),
        (said("anonymity loss"), drawn("alc", lambda loss: words.fixed(loss, 3))),
    ]
    table = tabulate(detail.filter(of_reported=False).iter_rows(named=True), columns)
    readings = (row, {**row, "of_reported": True})
    sentences = [text for reading in readings for text in _sure_sentences(reading, detail)]
    return [table, *map(Paragraph, sentences)]


def sure_of(row: Row, tables: Tables) -> list[str]:
    """Return whom a sure adversary names, in a sentence; nothing if that was not asked for.

    ``row`` is one of results, or its reading of those with a reported secret (``of_reported``).
    """
    detail = tables.get("sure", pl.DataFrame())
    keys = [n for n in ("attack_id", *QUESTION, "subset") if n in detail.columns]
    if not keys or any(n not in row for n in keys):
        return []
    return _sure_sentences(row, rows_about(detail, row, keys))


def rows_about(table: pl.DataFrame, question: Row, names: Iterable[str]) -> pl.DataFrame:
    """Return the rows of a table that have the values of ``question`` in these columns.

    NULL equals NULL. A column that the table or the question lacks tells nothing apart.
    """
    shared = [name for name in names if name in question and name in table.columns]
    same = (pl.col(n).eq_missing(pl.lit(question[n], table.schema[n])) for n in shared)
    return table.filter(*same)


def _sure_sentences(row: Row, detail: pl.DataFrame) -> list[str]:
    """Return the claims of a row at the greatest threshold asked for at which somebody is named.

    The line ``greatest`` is left out: its threshold, of the greatest loss, was not asked for.
    """
    lines = detail.filter(of_reported=bool(row.get("of_reported")), greatest=False)
    named = lines.filter(pl.col("claims") > 0)
    if lines.is_empty():
        return []
    line = (named.tail(1) if named.height else lines.head(1)).row(0, named=True)
    text = claims_sentence(line)
    if row.get("of_reported"):
        message = "Among {people} with a reported {secret}:"
        about = {"people": words.people(), "secret": escaping.cell(row["secret"])}
        text = f"{said(message, **about)} {text}"
    return [text]


def claims_sentence(line: Row) -> str:
    """Return in a sentence how many are named at a threshold, and how many of them rightly."""
    sure = f"{words.digits(100 * line['threshold'])} %"
    if not line["claims"]:
        return said("When at least {sure} sure, the adversary names nobody.", sure=sure)
    message = (
        "When at least {sure} sure, the adversary names {named} and is right about {right} of them "
        "({share})."
    )
    if line["right"] is None:
        message = (
            "When at least {sure} sure, the adversary names {named} and is right about {share} of "
            "them."
        )
    before = line["precision_before"]  # None: not counted
    of = words.scale(line["precision"], before or 0)
    text = said(
        message,
        sure=sure,
        named=f"{words.count(line['claims'])} {words.people()}",
        right="" if line["right"] is None else words.count(round(line["right"])),
        share=words.share(line["precision"], of),
    )
    if before is None:
        return text
    return f"{text} {said('Without the release: {share}.', share=words.share(before, of))}"


def _quantiles(row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return the table of quantiles of success: at most how much for which share of people."""

    def at_most(line: Row) -> str:
        return "-" if line["success"] is None else words.success(row, line["success"])

    share = said("share of {people}", people=words.people())
    columns = [(share, percent("quantile")), (said("at most"), at_most)]
    return [tabulate(detail.iter_rows(named=True), columns, texts=())]


def _value_chances(row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return a table of the chances of values, and the story of two candidates for a job.

    ``detail`` has a row per value of the secret. The story is about the value whose chance rises
    most, if there is one that is not certain for the people most suspected of it.
    """
    lines = detail.head(MOST_VALUES).with_row_index("number", 1).to_dicts()
    columns = [
        (escaping.cell(row["secret"]), _value_text),
        (words.people(), number("individuals")),
        (said("before"), percent("prior")),
        (said("least suspected"), percent("low")),
        (said("most suspected"), percent("high")),
        (said("twice as suspected, not certain"), number("suspected")),
    ]
    table = tabulate(lines, columns)
    parts: list[Part] = [table]
    # Others do not see all numbers: those that are hidden are None.
    complete = [line for line in lines if None not in line.values()]
    uncertain = [line for line in complete if line["low"] < line["high"] < 1]
    if uncertain:
        line = max(uncertain, key=lambda line: line["high"] / line["prior"])
        values = {"secret": escaping.cell(row["secret"]), "value": _value_text(line)}
        values |= {name: words.percent(line[name]) for name in ("low", "high")}
        parts.append(Paragraph(said(TWO_CANDIDATES, **values)))
    return parts


def _value_text(line: Row) -> str:
    """Return a value of the secret, or its number if values are not shown."""
    return escaping.cell(line["value"]) if "value" in line else said("value {n}", n=line["number"])


def _groups(row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return a table of the risk of each group, and a sentence on the gap between groups.

    ``detail`` has a row per group of the column ``by``. Numbers are None in groups that are hidden
    because they are small.
    """
    columns = [
        (detail["by"][0], text("group")),
        (words.people(), number("individuals")),
        (said("singled out"), number("singled_out")),
        (said("certain"), number("individuals_certain")),
        (said("success"), drawn("posterior_probabilistic", lambda p: words.success(row, p))),
        (said("guessed right"), percent("guessed_right")),
    ]
    table = tabulate(detail.iter_rows(named=True), columns)
    rows = detail.filter(pl.col("posterior_probabilistic").is_not_null()).to_dicts()
    hidden = len(rows) < detail.height
    return [table, Paragraph(words.gap(row, rows, hidden=hidden))] if rows else [table]


def _group_capacity(_row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return a table of the multiplicative capacity of each group (None: the group is hidden)."""
    columns = [
        (detail["by"][0], text("group")),
        (words.people(), number("individuals")),
        (said("capacity (at most)"), drawn("capacity", words.factor)),
    ]
    return [tabulate(detail.iter_rows(named=True), columns)]


def _households(row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return the table of the risk of households.

    A household is found through any of its members, or attacked as one record (``record_...``).
    """
    line = detail.row(0, named=True)
    table = Table.of([line["household"], said("households"), said("share")], right=(1, 2))
    table.add_row(said("all"), words.count(line["households"]), "")
    certain = said("with a member who is singled out")
    if row["secret"] is not None:
        certain = said("with a member whose secret is certain")
    share = words.percent(line["share_singled_out"])
    table.add_row(certain, words.count(line["singled_out"]), share)
    for title, name in (
        (said("a member guessed right (independent)"), "risk"),
        (said("at least, for any dependence"), "risk_low"),
        (said("at most, for any dependence"), "risk_high"),
        (said("as one record: certain"), "record_posterior_deterministic"),
        (said("as one record: best guess"), "record_posterior_probabilistic"),
    ):
        table.add_row(title, "", words.percent(line[name]))
    return [table, *people_without(line)]


def households_of(row: Row, tables: Tables) -> list[str]:
    """Return the risk of households beside a result of an attack, in words; nothing without any."""
    if "households" not in tables:
        return []
    lines = tables["households"].filter(attack_id=row["attack_id"]).to_dicts()
    return [household_sentence(row["secret"], line) for line in lines]


def household_sentence(secret: str | None, line: Row) -> str:
    """Return the risk that a household is found through any member, in words.

    ``line`` is the row of the details of households. With a ``secret`` the risk is that some
    member's secret is guessed; None: that some member is identified.
    """
    values = {
        "household": escaping.cell(line["household"]),
        "n": words.count(line["singled_out"]),
        "all": words.count(line["households"]),
        "share": words.percent(line["share_singled_out"]),
    }
    certain = said(
        "Households ({household}) with a member who is singled out: {n} of {all} ({share}).",
        **values,
    )
    if secret is not None:
        certain = said(
            "Households ({household}) with a member whose {secret} is certain: {n} of {all} "
            "({share}).",
            **values,
            secret=escaping.cell(secret),
        )
    guessed = said(
        "A best guess is right about some member in {risk} of all households, if guesses about "
        "members are independent; for any dependence, in {low} to {high}.",
        risk=words.percent(line["risk"]),
        low=words.percent(line["risk_low"]),
        high=words.percent(line["risk_high"]),
    )
    return f"{certain} {guessed}"


def people_without(line: Row) -> list[Part]:
    """Return a sentence about people without a household; nothing if there are none."""
    if not line["people_without"]:
        return []
    message = "{people} without a household count as households of one."
    return [Paragraph(said(message, people=words.persons(line["people_without"])))]


def end(text: str, *, sharp: bool) -> str:
    """Return one end of bounds, with a mark if it may not be attained."""
    return text if sharp else f"{text} *"


def footnote_of_bounds() -> Paragraph:
    """Return the footnote of bounds that are marked with a star."""
    return Paragraph(said("* The bound holds, but perhaps no completion attains it."))


def bounds(_row: Row, detail: pl.DataFrame) -> list[Part]:
    """Return a table of the least and the most of each measure if missing values may be anything.

    ``detail`` has a row per ``measure`` with the bounds ``low`` and ``high``. A bound is sharp
    (``low_sharp``, ``high_sharp``) if some values reach it; others get a footnote.
    """
    titles = {
        "posterior_deterministic": said("certain (deterministic)"),
        "posterior_probabilistic": said("best guess (probabilistic)"),
        "singled_out": said("{people} singled out", people=words.people()),
        "blocks": said("blocks"),
        "k": said("{people} in the smallest block (k)", people=words.people()),
        "l": said("fewest values in a block (l)"),
        "records_with_msu": said("records with a minimal sample unique"),
    }
    heads = [said("missing values may be anything"), said("least"), said("most")]
    table = Table.of(heads, right=(1, 2))
    lines = {line["measure"]: line for line in detail.iter_rows(named=True)}
    drawn = [(title, lines[name]) for name, title in titles.items() if name in lines]
    for title, line in drawn:
        cells = []
        for side in ("low", "high"):
            bound = line[side]  # None: the size of a small block, which others must not see
            is_share = bound is None or line["measure"].startswith("posterior")
            text = words.percent(bound) if is_share else words.count(round(bound))
            cells.append(end(text, sharp=line[f"{side}_sharp"]))
        table.add_row(title, *cells)
    sharp = all(line["low_sharp"] and line["high_sharp"] for _, line in drawn)
    return [table] if sharp else [table, footnote_of_bounds()]


DRAWINGS = {
    "bounds": bounds,
    "histogram": _histogram,
    "thresholds": _thresholds,
    "sure": claims_parts,
    "quantiles": _quantiles,
    "value_chances": _value_chances,
    "groups": _groups,
    "group_capacity": _group_capacity,
    "households": _households,
}
