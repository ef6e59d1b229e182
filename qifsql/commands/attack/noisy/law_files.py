"""Laws that a file tells: its lines of what is known as what, read and checked."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.adversary import value_files
from qifsql.commands.attack.noisy.bind import NoisyQid
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.counting import transition_files
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import column
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError, plural
from qifsql.query.plan import Plan, Step

NEEDED = ("value", "known as", "probability")


def read_tables(noisy: Sequence[NoisyQid], engine: Engine) -> dict[int, tuple[Dataset, Step]]:
    """Return the files that laws name, by number, and their lines with the column's type."""
    tables = {q.number: _read_table(q, engine) for q in noisy if q.law.kind == "table"}
    matrices = {
        q.number: transition_files.read_lines(engine, q.law.table, q.attribute)
        for q in noisy
        if q.law.kind == "matrix"
    }
    return tables | matrices


def _read_table(qid: NoisyQid, engine: Engine) -> tuple[Dataset, Step]:
    """Return the file of a law and its lines: value, label (known as), unfit, probability."""
    opened = Dataset.open(qid.law.table)
    opened = replace(opened, catalog="attached_table", all_varchar=opened.format == "csv")
    catalog = Catalog(engine, opened)
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was opened as one
    dataset, schema = catalog.dataset, catalog.schema
    label = schema.find("known as") or schema.find("known_as") or schema.find("known")
    value, chance = schema.find("value"), schema.find("probability")
    if value is None or label is None or chance is None:
        raise InputError(
            f"{dataset.name} does not say what is known as what; it needs the columns "
            f"{', '.join(NEEDED)}"
        )
    text = exp.cast(column(label), "VARCHAR")
    typed = value_files.typed(column(value), qid.attribute)
    fits = value_files.typed(column(label), qid.attribute)
    unfit = exp.and_(exp.not_(column(value).is_(exp.null())), typed.copy().is_(exp.null()))
    columns = {
        "value": typed,
        "label": exp.func("coalesce", exp.cast(fits, "VARCHAR"), text),
        "unfit": unfit,
        "probability": value_files.number(chance),
    }
    doc = "One row per line of a table of what is known as what."
    return dataset, Step("listed", doc, value_files.lines(dataset, columns))


def plan_listed(coded: Coded, qid: NoisyQid, dataset: Dataset, step: Step) -> Plan:
    """Return the plan of a law from a table, whose lines are ``step``; refuse wrong lines."""
    ((lines, unfit, wrong, twice, values, unsound),) = coded.tables.rows(
        Plan((step,), coded.query("lawless")), "checking a table"
    )
    if not lines:
        raise InputError(f"{dataset.name} has no lines; each line is {', '.join(NEEDED)}")
    counts = unfit, wrong, twice
    transition_files.refuse_lines(dataset.name, qid.attribute, "a value and a label", counts)
    if unsound:
        raise InputError(
            f"the probabilities of {unsound:,} of {plural(values, 'value')} in "
            f"{dataset.name} do not add up to 1; a value that may be known as itself needs a "
            "line for that, too"
        )
    return plan_labelled(coded, qid, step)


def plan_labelled(coded: Coded, qid: NoisyQid, *steps: Step) -> Plan:
    """Return the plan of a law from the last step, ``listed``: values, labels, chances."""
    labelled = Step("labelled", "One row per value and label.", coded.query_values(qid, "labelled"))
    return Plan((*steps, labelled), coded.query("numbered"))
