"""Linking as people read it: hashes found again, registers, logs."""

from rich.console import Group, RenderableType
from rich.text import Text

from qifsql.errors import several
from qifsql.linkage.unhash import Unhashed
from qifsql.report import cells, words


def unhashed(result: Unhashed) -> RenderableType:
    """What was found again of hashes and of records."""
    row = result.frame.row(0, named=True)
    parts: list[RenderableType] = []
    if result.patterns.height > 1:
        patterns = cells.table(["pattern", "candidates"], right=(1,))
        for pattern, n in result.patterns.iter_rows():
            patterns.add_row(Text(cells.cell(pattern)), words.count(n))
        parts += [patterns]
    table = cells.table(["", "there are", "recovered", ""], right=(1, 2, 3))
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
    parts += [table, Text(f"{tried} {_meaning(row['recovered_records_share'])}")]
    if row["ambiguous"]:
        several_of = several(row["ambiguous"], "hash").replace("hashs", "hashes")
        parts.append(Text(f"{several_of} may come from more than one candidate."))
    return Group(*parts)


def _meaning(share: float) -> str:
    """What a share of recovered records says about the hash."""
    if share == 0:
        return "None of them was hashed here, or it was hashed in another way (a salt?)."
    if share == 1:
        return "The hash hides nothing: whoever tries these has every identifier."
    return f"Of the records, {words.chance(share)} can be named by whoever tries these."
