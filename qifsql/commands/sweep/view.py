"""The text of a sweep: best subset of each size, contributions to the risk, columns to drop."""

from functools import partial

import polars as pl

from qifsql.commands.sweep import charts
from qifsql.commands.sweep.result import DROP_FIRST, SHAPLEY
from qifsql.data.types import Row
from qifsql.presentation import details, escaping, words
from qifsql.presentation import table_columns as cells
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.table_columns import Cell, Column
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

SUBSETS_SHOWN = 20  # subsets of a border that are shown
PAIRS_SHOWN = 5  # interactions of pairs that are shown

REMEDIES = ("drop_first", "shapley", "coarsen_first", "interactions", "borders")
KIND = Kind(
    columns=("model", "secret"),
    shared=("best", *REMEDIES, "histogram", "sure", "plan", "releases"),
    essential=True,
    types=SHAPLEY | DROP_FIRST,
)


def parts(frame: pl.DataFrame, tables: Tables, _spec: Spec, *, explain: bool = False) -> list[Part]:
    """Return the answers of a sweep, question by question; with ``explain`` the plan."""
    parts: list[Part] = []
    for question, excerpt in split_by_question(frame, tables):
        parts += [Heading(_question_heading(question)), *answer_parts(excerpt)]
        parts += _among_reported(frame, question)
    if explain and "plan" in tables:
        parts += [Heading(said("The plan, and what it cost")), _plan_table(tables["plan"])]
    return parts


def _among_reported(frame: pl.DataFrame, question: Row) -> list[Part]:
    """Return a sentence on the people with a reported secret, for the subset that leaks most."""
    if question.get("posterior_probabilistic_reported") is None:
        return []
    order = ["posterior_probabilistic_reported", "n_qids"]
    subsets = details.rows_about(frame, question, details.QUESTION)
    row = subsets.sort(order, descending=[True, False], maintain_order=True).row(0, named=True)
    if row["reported"] == words.individuals(row):  # everybody reports it
        return []
    text = said("Knowing {qids}:", qids=words.listed(row["qids"]))
    return [Paragraph(f"{text} {words.among_reported(row)}")]


def split_by_question(frame: pl.DataFrame, tables: Tables) -> list[tuple[Row, Tables]]:
    """Return, for each question of a sweep, its first row and its rows of the details."""
    about_secrets = {name: table for name, table in tables.items() if "secret" in table.columns}
    excerpts: list[tuple[Row, Tables]] = []
    names = [name for name in details.QUESTION if name in frame.columns]
    for row in frame.unique(names, maintain_order=True).iter_rows(named=True):
        excerpt = {
            name: details.rows_about(table, row, details.QUESTION)
            for name, table in about_secrets.items()
        }
        excerpts.append((row, excerpt))
    return excerpts


def answer_parts(tables: Tables) -> list[Part]:
    """Return tables and a sentence on one question, from its rows of the details (by name)."""
    parts: list[Part] = [best_table(tables["best"])] if "best" in tables else []
    if "releases" in tables:
        parts.append(releases_table(tables["releases"]))
    if "drop_first" in tables and "shapley" in tables:
        parts.append(drop_first_table(tables["drop_first"], tables["shapley"]))
        if "coarsen_first" in tables:
            parts.append(coarsen_first_table(tables["coarsen_first"]))
        if "interactions" in tables:  # stored as JSON, a table without rows has no columns
            parts += strongest_pairs(tables["interactions"])
    if "borders" in tables:
        parts += border_tables(tables["borders"])
    if "best" in tables and tables["best"].height:
        parts.append(Paragraph(worst_subset_sentence(tables)))
        row = tables["best"].row(-1, named=True)
        for reading in (row, {**row, "of_reported": True}):
            parts += map(Paragraph, details.sure_of(reading, tables))
    return parts


def _question_heading(row: Row) -> str:
    """Return the model, the secret and the success before the release, from a row of a question."""
    what = said("re-identification")
    if row["secret"] is not None:
        what = said("inference of {secret}", secret=row["secret"])
    message = "{model}: {what}; before the release the adversary guesses right {times}"
    times = _chance(row["prior_probabilistic"])
    text = said(message, model=row["model"], what=what, times=times)
    return text + words.known_records_clause(row)


def _chance(p: float) -> str:
    """Return how often a guess is right: never, always, or in so many times."""
    chance = words.chance(p)
    return chance if p <= 0 or p >= 1 else said("{chance} times", chance=chance)


def best_table(table: pl.DataFrame) -> Table:
    """Return the subset of each size that leaks most (thesis Tables 4.4, 4.7, 4.8)."""
    kinds = {
        "both": said("both"),
        "deterministic": said("deterministic"),
        "probabilistic": said("probabilistic"),
    }
    columns: list[Column] = [
        (said("quasi-identifiers"), cells.number("n_qids")),
        (said("best for"), lambda row: kinds.get(row["best_for"]) or row["best_for"]),
        (said("subset"), lambda row: escaping.cell(", ".join(row["qids"]))),
        (said("certain"), cells.percent("posterior_deterministic")),
        (said("degradation"), _rise("degradation_deterministic")),
        (said("best guess"), cells.percent("posterior_probabilistic")),
        (said("degradation"), lambda row: words.factor(row["degradation_probabilistic"])),
    ]
    return cells.tabulate(table.iter_rows(named=True), columns, texts=(1, 2))


def _rise(name: str) -> Cell:
    """Return the cells of a column of differences of success."""
    return lambda row: words.rise(row[name])


def releases_table(table: pl.DataFrame) -> Table:
    """Return the contribution of each auxiliary dataset beyond the focal one alone."""
    columns = [
        (said("release"), cells.text("dataset")),
        (said("adds alone"), _rise("alone")),
        (said("adds as the last"), _rise("last")),
        (said("Shapley value"), _rise("shapley")),
        (said("share of the rise"), cells.percent("share")),
    ]
    return cells.tabulate(table.filter(measure="probabilistic").iter_rows(named=True), columns)


def drop_first_table(table: pl.DataFrame, shapley: pl.DataFrame) -> Table:
    """Return the reduction from dropping each quasi-identifier, and its share of the risk."""
    shares = shapley.filter(measure="probabilistic").select("qid", "share")
    columns = [
        (said("drop first"), cells.text("qid")),
        (said("best guess without it"), cells.percent("posterior_without")),
        (said("saved"), cells.percent("saved")),
        (said("Shapley value"), cells.percent("shapley")),
        (said("share of the risk"), cells.percent("share")),
    ]
    rows = table.join(shares, on="qid", maintain_order="left")
    return cells.tabulate(rows.iter_rows(named=True), columns)


def coarsen_first_table(table: pl.DataFrame) -> Table:
    """Return the reduction from merging the values of a quasi-identifier in pairs."""

    def values(row: Row) -> str:
        counts = {"n": words.count(row["values"]), "m": words.count(row["values_coarser"])}
        return said("{n} to {m}", **counts)

    columns = [
        (said("coarsen first"), cells.text("qid")),
        (said("values"), values),
        (said("best guess then"), cells.percent("posterior_coarser")),
        (said("saved"), cells.percent("saved")),
    ]
    return cells.tabulate(table.iter_rows(named=True), columns)


def strongest_pairs(table: pl.DataFrame) -> list[Part]:
    """Return the pairs with the strongest interactions, positive or negative."""
    rows = table.filter(measure="probabilistic").sort(
        pl.col("interaction").abs(), descending=True, maintain_order=True
    )
    if rows.is_empty():
        return []
    sheet = Table.of([said("strongest pairs"), said("interaction"), ""], right=(1,))
    for line in rows.head(PAIRS_SHOWN).iter_rows(named=True):
        value = line["interaction"]
        how = said("more together than apart") if value > 0 else said("stand in for each other")
        pair = escaping.cell(f"{line['a']}, {line['b']}")
        sheet.add_row(pair, number(f"{100 * value:+.2f} %"), how if value else "")
    return [sheet]


def border_tables(table: pl.DataFrame) -> list[Part]:
    """Return a table for each border of a threshold and measure: its subsets and their success."""
    heads = {
        ("minimal risky", "deterministic"): said("minimal risky, deterministic"),
        ("minimal risky", "probabilistic"): said("minimal risky, probabilistic"),
        ("maximal safe", "deterministic"): said("maximal safe, deterministic"),
        ("maximal safe", "probabilistic"): said("maximal safe, probabilistic"),
    }
    parts: list[Part] = []
    for (measure, border), rows in table.group_by("measure", "border", maintain_order=True):
        head = heads.get((str(border), str(measure)), f"{border}, {measure}")
        sheet = Table.of([head, said("success")], right=(1,))
        for line in rows.head(SUBSETS_SHOWN).iter_rows(named=True):
            names = ", ".join(line["qids"]) or said("none: it holds before the release")
            sheet.add_row(escaping.cell(names), words.percent(line["posterior"]))
        parts.append(sheet)
        if (more := rows.height - SUBSETS_SHOWN) > 0:
            parts.append(Paragraph(said("and {n} more (see --format csv)", n=words.count(more))))
    return parts


def worst_subset_sentence(tables: Tables) -> str:
    """Return a sentence on the worst subset, and one on the quasi-identifier to drop first."""
    worst = tables["best"].row(-1, named=True)
    names = words.listed([escaping.cell(name) for name in worst["qids"]])
    after = _chance(worst["posterior_probabilistic"])
    text = said("Someone who knows {qids} guesses right {times}.", qids=names, times=after)
    if "drop_first" not in tables or tables["drop_first"].is_empty():
        return text
    first = tables["drop_first"].row(0, named=True)
    if first["saved"] <= 0:
        return f"{text} {said('Dropping any single quasi-identifier does not help.')}"
    without = words.chance(first["posterior_without"])
    saves = "Dropping {qid} helps most: the chance is then {chance}."
    return f"{text} {said(saves, qid=escaping.cell(first['qid']), chance=without)}"


def _plan_table(table: pl.DataFrame) -> Table:
    """Return the estimated and the actual cost of each stage (``plan.PLAN``)."""
    columns: list[Column] = [
        ("pass", cells.number("pass")),
        ("subsets that begin with", cells.text("first")),
        ("subsets", cells.number("subsets")),
        ("rows expected", cells.number("rows_estimated")),
        ("rows", cells.number("rows")),
        ("way", lambda row: row["method"] or ""),
        ("s expected", lambda row: f"{row['seconds_estimated']:.1f}"),
        ("s", lambda row: f"{row['seconds']:.1f}"),
    ]
    return cells.tabulate(table.iter_rows(named=True), columns, texts=(1, 5))


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    frame, tables = stored.frame, stored.details
    n = frame["subset"].n_unique() if "subset" in frame.columns else 0
    tried = counted("{n} set of quasi-identifiers was tried.", "{n} sets were tried.", n)
    parts: list[Part] = [Paragraph(tried)] if n else []
    if frame.height and "posterior_probabilistic" in frame.columns:
        parts += drawn("success", partial(charts.success, frame))
    for row, excerpt in split_by_question(frame, tables):
        parts.append(Heading(words.goal(row)))
        parts += answer_parts({k: t for k, t in excerpt.items() if k in ("best", "releases")})
    if "histogram" in tables and "best" in tables:
        parts += drawn("histograms", partial(charts.histograms, tables))
    return said("Every adversary"), parts


def remedies(stored: Stored) -> list[Part]:
    """Return the reductions from dropping and coarsening each quasi-identifier."""
    tables = {k: t for k, t in stored.details.items() if k in REMEDIES}
    parts: list[Part] = []
    if "shapley" in tables and tables["shapley"].height:
        parts += drawn("shapley", partial(charts.shapley, tables["shapley"]))
    for row, excerpt in split_by_question(stored.frame, tables) if tables else ():
        parts += [Heading(words.goal(row)), *answer_parts(excerpt)]
    return parts


def headline(stored: Stored) -> list[str]:
    """Return a sentence per question of a sample on its riskiest subset; none without a sample."""
    if "sampled" not in stored.frame.columns:
        return []
    ordered = stored.frame.sort("posterior_probabilistic", descending=True, maintain_order=True)
    rows = ordered.unique(["model", "secret"], keep="first", maintain_order=True)
    texts = []  # one per model and secret
    for row in rows.iter_rows(named=True):
        scale = words.scale(row["prior_probabilistic"], row["posterior_probabilistic"])
        message = (
            "{goal}, estimated from a sample: someone who knows {qids} guesses right for {after}, "
            "and for {before} without the release."
        )
        after, before = (
            words.share(row[f"{when}_probabilistic"], scale) for when in ("posterior", "prior")
        )
        qids = words.listed([escaping.cell(name) for name in row["qids"]])
        texts.append(said(message, goal=words.goal(row), qids=qids, after=after, before=before))
    return texts
