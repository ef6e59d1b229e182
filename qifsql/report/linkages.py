"""Linking as people read it: hashes found again, registers, logs."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import cells, words
from qifsql.report.parts import Heading, Paragraph, Part, Spec, Table, Tables


def unhashed(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """What was found again of hashes and of records."""
    row = frame.row(0, named=True)
    parts: list[Part] = []
    if "patterns" in tables and tables["patterns"].height > 1:
        patterns = Table.of(["pattern", "candidates"], right=(1,))
        for pattern, n in tables["patterns"].iter_rows():
            patterns.add_row(cells.cell(pattern), words.count(n))
        parts += [patterns]
    table = Table.of(["", "there are", "recovered", ""], right=(1, 2, 3))
    with_one = row["records"] - row["missing"] - row["unfit"]
    for name, there, kind in (
        (f"different {row['hash']} hashes", row["values"], "values"),
        ("records with a hash", with_one, "records"),
    ):
        found, share = row[f"recovered_{kind}"], row[f"recovered_{kind}_share"]
        table.add_row(name, words.count(there), words.count(found), words.percent(share))
    tried = (
        f"{several(row['candidates'], 'candidate')} tried in {row['seconds']:.1f} s, "
        f"{words.count(round(row['candidates_per_second']))} a second."
    )
    parts += [table, Paragraph(f"{tried} {_meaning(row['recovered_records_share'])}")]
    if row["ambiguous"]:
        several_of = several(row["ambiguous"], "hash").replace("hashs", "hashes")
        parts.append(Paragraph(f"{several_of} may come from more than one candidate."))
    return parts


def _meaning(share: float) -> str:
    """What a share of recovered records says about the hash."""
    if share == 0:
        return "None of them was hashed here, or it was hashed in another way (a salt?)."
    if share == 1:
        return "The hash hides nothing: whoever tries these has every identifier."
    return f"Of the records, {words.chance(share)} can be named by whoever tries these."


def linked(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Both files side by side, the three adversaries, and how sure links are."""
    row = frame.row(0, named=True)
    parts: list[Part] = [
        Heading(f"Linked by {words.listed(row['qids'])}"),
        _both(row),
        Paragraph(_unique(row)),
        _adversaries(row),
    ]
    if tables["confidence"].height:
        parts += [_curve(tables["confidence"]), Paragraph(_right(row))]
    return parts


def _both(row: Mapping[str, Any]) -> Table:
    table = Table.of(["", "release", "register", "both"], right=(1, 2, 3))
    for name, column in (("records", "records"), ("of them, a value is missing", "missing")):
        shown = [words.count(row[f"{side}_{column}"]) for side in ("release", "register")]
        table.add_row(name, *shown, "")
    blocks = [words.count(row[f"{side}_blocks"]) for side in ("release", "register", "shared")]
    table.add_row("blocks", *blocks)
    alone = [words.count(row[f"unique_in_{side}"]) for side in ("release", "register", "both")]
    table.add_row("unique", *alone)
    return table


def _unique(row: Mapping[str, Any]) -> str:
    """The three numbers that must not be taken for one another, and what they mean."""
    n = row["unique_in_both"]
    told = (
        f"{words.count(row['matched'])} of {several(row['release_records'], 'record')} look like "
        f"somebody in the register. {words.count(n)} "
        f"({words.percent(n / row['release_records'])}) are unique in both: there is one name for "
        "them"
    )
    if row["correct_unique"] is None:
        return f"{told}, and it is theirs if they are in the register at all."
    if not n:
        return f"{told}."
    right = words.percent(row["correct_unique"] / n)
    return f"{told}. {words.count(row['correct_unique'])} of these names ({right}) are right."


def _adversaries(row: Mapping[str, Any]) -> Table:
    """The risks, each under the name of who it is about."""
    table = Table.of(["who links", "risk", "what it is"], right=(1,))
    for name, what in (
        ("prosecutor", "highest chance, if the target is known to be in the release: 1/f"),
        ("journalist", "highest chance, if only the register is known to have her: 1/F"),
        ("marketer", "share of the release that is linked right, at best"),
    ):
        risk = row[f"{name}_risk"]
        table.add_row(name, "none" if risk is None else words.percent(risk), what)
    if row["k_map"] is not None:
        table.add_row("k-map", words.count(row["k_map"]), "fewest in the register who look alike")
    if row["delta_max"] is not None:
        low, high = (words.percent(row[f"delta_{end}"]) for end in ("min", "max"))
        what = "chance that somebody of the register is in the release"
        table.add_row("delta-presence", f"{low} to {high}", what)
    return table


def _curve(confidence: pl.DataFrame) -> Table:
    """Some points of the confidence curve: certain links, and those with at least such a chance."""
    truth = confidence["correct_at_least"].null_count() == 0
    heads = ["links with a chance of", "links", "right at best", *(["right"] if truth else [])]
    table = Table.of(heads, right=range(1, len(heads)))
    before = 0
    for alike in (1, 2, 5, 10, 100, None):
        least = 0.0 if alike is None else 1 / alike
        reached = confidence.filter(pl.col("confidence") >= least)
        if reached.height == before:
            continue
        before = reached.height
        row = reached.row(-1, named=True)
        name = "any" if alike is None else "1" if alike == 1 else f"1 in {alike} or more"
        shown = [words.count(row["links_at_least"]), words.count(round(row["expected_at_least"]))]
        shown += [words.count(round(row["correct_at_least"]))] if truth else []
        table.add_row(name, *shown)
    return table


def _right(row: Mapping[str, Any]) -> str:
    """How many links are right, in a sentence."""
    told = words.count(round(row["expected_correct"]))
    best = (
        f"Linked one to one, at most {told} of {several(row['release_records'], 'record')} get the "
        "right name on average"
    )
    if row["correct_expected"] is None:
        return f"{best}: so many if everybody who can be is in both."
    right = words.count(round(row["correct_expected"]))
    return (
        f"{best}, and {right} do: {words.count(row['people_in_both'])} people are in both, and "
        f"{words.count(row['agreeing'])} of them agree in all values."
    )


def unicity(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """The share of people whom so many points single out, one line for each number."""
    head = f"Knowing {words.listed(spec['qids'])} of a few records of a person"
    table = Table.of(["records known", "people", "singled out", "between", "how"], right=(0, 1, 2))
    for row in frame.iter_rows(named=True):
        share = "nobody has so many" if row["unicity"] is None else words.percent(row["unicity"])
        between, how = "", row["method"] or ""
        if row["low"] is not None:
            between = f"{words.percent(row['low'])} and {words.percent(row['high'])}"
            how = f"{how}, {several(row['draws'], 'draw')}"
        table.add_row(str(row["points"]), words.count(row["people"]), share, between, how)
    parts: list[Part] = [Heading(head), table]
    if told := [row for row in frame.iter_rows(named=True) if row["unicity"] is not None]:
        best = max(told, key=lambda row: float(row["unicity"]))
        people, records = best["all_people"], best["all_records"]
        parts.append(
            Paragraph(
                f"{several(people, 'person')} in {several(records, 'record')}. "
                f"Whoever knows {several(best['points'], 'record')} of a person, chosen at random, "
                f"has a chance of {words.percent(best['unicity'])} that they are nobody else's: "
                "all other records of the person are then known, too."
            )
        )
    return parts
