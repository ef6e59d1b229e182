"""One person's facts, as people read them."""

from qifsql.commands.attack import view
from qifsql.commands.receipt.receipt import Receipt
from qifsql.presentation import words
from qifsql.presentation.parts import Paragraph, Part, Table


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
    learnt = view.attack(result.learnt.rows(), result.learnt.details)
    return [*shown, Paragraph(alike + sets), *learnt]
