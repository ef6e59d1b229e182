"""The release of a recoding: classes at a node, suppressed cells, and what the cells hold."""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.commands.anonymise import kept_records
from qifsql.commands.anonymise.generalise import Cells, Loss, check_sets, make_values
from qifsql.commands.anonymise.lattice import Node
from qifsql.commands.anonymise.nominal import makes_labels
from qifsql.commands.anonymise.recode import Recoding
from qifsql.commands.anonymise.value_steps import ValueStep, column_of
from qifsql.commands.anonymise.writing import with_commas
from qifsql.counting.scales import own_name
from qifsql.query.plan import Plan, Step

TABLES = {name: own_name(name) for name in ("done", "refused", "classes")}


def make_release(recoding: Recoding, node: Node, order: Sequence[int] = ()) -> None:
    """Make the tables of a node: ``done`` (people by class and place), ``refused`` (bad classes).

    ``order``: numbers of quasi-identifiers. In classes that break a limit, their cells are
    suppressed one after the other; records that then look alike form new classes, of which those
    that still break a limit are in ``refused``. Other classes stay as they are.
    """
    passes, columns = recoding.passes, recoding.columns
    different = Step("combinations", "One row per different person.", passes.query("combinations"))
    tables = {f"steps_{i}": own_name(f"steps_{i}") for i in columns}
    people = recoding.view("placed_tuples", tables=tables, steps=recoding.step_numbers(node))
    of_node = Step("tuples_of_node", "One row per different person.", people)
    passes.keep("done", Plan((different, of_node), recoding.view("done_of_node")))
    _refuse_classes(recoding)
    for i in order:
        view = recoding.view("suppressed_cells", tables=TABLES, qids=columns, qid=i)
        passes.replace("done", view)
        passes.drop("refused")
        _refuse_classes(recoding)
    if len(set(order)) == len(recoding.qids):  # a class may have all of its cells suppressed
        view = recoding.view("nothing_left", tables=TABLES, places=recoding.qids)
        passes.append("refused", view)


def _refuse_classes(recoding: Recoding) -> None:
    """Make the table ``refused`` of the classes that break a limit."""
    passes = recoding.passes
    passes.judge(recoding.limits, "sides_of_classes")
    passes.append("refused", passes.query("too_small", {"wanted_k": recoding.limits.k}))
    if recoding.combinations:
        kept_records.refuse_classes(recoding)


def suppressed_cells(recoding: Recoding) -> list[int]:
    """Return the number of suppressed cells by quasi-identifier, without those of whole records."""
    view = recoding.view("cells_suppressed", tables=TABLES, places=recoding.qids)
    return [int(n) for n in recoding.passes.row(view)]


def widen_intervals(recoding: Recoding) -> None:
    """Make ``classes`` from ``own_classes``, whose intervals cover the values of one class alone.

    An interval now covers the values of all records in the same group of values, so that a value
    has the same cell in every class. Suppressed records do not count.
    """
    tables = TABLES | {"classes": own_name("own_classes")}
    view = recoding.view("same_cells", tables=tables, qids=recoding.qids)
    recoding.passes.keep("classes", view)
    recoding.passes.drop("own_classes")


def make_cell_values(recoding: Recoding, column: Cells, step: ValueStep, s: int) -> None:
    """Make the table ``values_i``: what cells of quasi-identifier i show at step number ``s``.

    A row per group of values that the step makes equal (``part``): its label, set, centre, or the
    ends of its interval. No table is made where a cell shows the value itself, or an interval whose
    ends are values. DatasetError if a set has too many values.
    """
    i, passes = column.number, recoding.passes
    if column.kind == "labelled" and step.form is not None:
        columns = {"own_step": column_of(i, s), "own_form": f"form_{s}"}
        if step.content == "prefix":  # its first characters, then stars
            numbers = {"kept_characters": step.characters}
            query = recoding.view_of_steps("prefixed", i, columns, numbers)
        else:
            query = recoding.view_of_steps("labels", i, columns, text=column.is_text)
            if column.writing.comma and makes_labels(step.changes):
                cell = with_commas(exp.column("cell")).as_("cell")
                query = exp.select("part", cell).from_(query.subquery("bands"))
        passes.keep(f"values_{i}", query)
    elif column.nominal is not None:
        steps = own_name(f"steps_{i}")
        passes.keep(f"values_{i}", column.nominal.ends(steps, column_of(i, s)))
    elif column.kind in ("listed", "centred"):
        passes.keep("done_by_step", recoding.view("shown_values", tables=TABLES, qid=i))
        make_values(passes, column, "done_by_step")
        passes.drop("done_by_step")
    if column.kind == "listed":
        query = recoding.view_of_steps("listed_values", i, {"own_step": f"step_{i}"})
        (values,) = passes.row(query)
        check_sets(column, int(values))


def measure_loss(recoding: Recoding, i: int, s: int) -> Loss:
    """Return the loss of quasi-identifier number ``i``, at step number ``s``, in the release."""
    columns = {"own_step": column_of(i, s), "own_cell": f"step_{i}", "place": f"place_{i}"}
    row = recoding.passes.row(recoding.view_of_steps("lost_by_cells", i, columns))
    # Records: in all, and with a cell of several values; sums of the values in cells, and lengths.
    released, generalised, listed, spanned = map(int, row)
    scale, records = recoding.scales[i - 1], recoding.passes.coded.records
    covered, length = (spanned, scale.span) if scale.interval else (listed, scale.values)
    return Loss.of(generalised, covered, length, suppressed=records - released, records=records)
