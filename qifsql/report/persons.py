"""One person's facts as people read them, and whether some facts tell others."""

from qifsql.receipts import Receipt
from qifsql.refinement import Refinement
from qifsql.report import attacks, listings, words
from qifsql.report.parts import Paragraph, Part, Table


def receipt(result: Receipt) -> list[Part]:
    """What one person's facts give away: the fewest that single out, and what is learnt."""
    table = Table.of(["which facts", "how many", "reveal", "look-alikes"], right=(1, 3))
    for row in result.frame.iter_rows(named=True):
        facts = words.listed(row["qids"]) if row["qids"] else "none: it holds of everybody"
        what = "whose record it is" if row["reveals"] is None else f"the value of {row['reveals']}"
        table.add_row(facts, str(row["n_qids"]), what, words.count(row["matches"]))
    n, alone = result.look_alikes, result.frame["reveals"].null_count()
    alike = (
        "Knowing all facts, the person is the only one."
        if n == 1
        else f"Knowing all facts, {words.count(n)} of {words.count(result.records)} people "
        "look like the person."
    )
    many = f" {alone} minimal sets of facts single the person out."
    sets = {0: "", 1: " One minimal set of facts singles the person out."}.get(alone, many)
    shown: list[Part] = [table] if table.rows else []
    learnt = attacks.attack(result.learnt.rows(), result.learnt.details)
    return [*shown, Paragraph(alike + sets), *learnt]


def refinement(result: Refinement) -> list[Part]:
    """Whether A refines B, in words, with a counterexample."""
    row = result.frame.row(0, named=True)
    a, b = words.listed(row["a"]), words.listed(row["b"])
    if result.refines:
        told = (
            f"Yes: who knows {a} knows {b}, too, so knowing the first never leaks less than "
            "knowing the second, whatever the secret, the prior and the gain."
        )
        return [Paragraph(told)]
    told = (
        f"No: in {words.count(row['violating_blocks'])} of {words.count(row['blocks'])} blocks "
        f"of {a} people differ in {b}; {words.count(row['violating_people'])} of "
        f"{words.count(row['records'])} people stand there. For some secret the first leaks "
        "less than the second."
    )
    if result.counterexample is None:
        return [Paragraph(told)]
    shown = listings.frame(result.counterexample)
    return [Paragraph(told), Paragraph("The smallest such block:"), shown]
