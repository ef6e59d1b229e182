"""``qifsql describe``."""

from dataclasses import replace

from qifsql.commands.describe.spec import DescribeOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "Which columns single people out, and which roles may they have?": (
        "qifsql describe data-samples/school_census_2018.parquet"
    ),
    "Describe the girls' records, as a table for a spreadsheet.": (
        "qifsql describe data-samples/school_census_2018.parquet --where 'TP_SEXO = 2' "
        "-o columns.csv"
    ),
}


def describe(data: Data, output: Output, limits: Limits, options: DescribeOptions) -> None:
    """Describe the columns: missing, distinct, entropy, people singled out, suggested roles."""
    from qifsql.commands.describe import view
    from qifsql.commands.describe.describe import describe as run
    from qifsql.options import show
    from qifsql.presentation.language import said
    from qifsql.presentation.parts import Command, Paragraph

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    everything = (result.frame, result.details, result.spec)
    line = view.command(result.rows(), data.arguments())
    ready = [Paragraph(said("To attack with these roles:")), Command(line)] if line else []
    shown = show.Shown(
        result=result,
        title=f"qifsql: {dataset.name}",
        view=lambda *_: [*view.parts(*everything), *ready],
    )
    if "values" in result.details:  # they are the table of results; people see both
        listed = replace(result, frame=result.details["values"], details={})
        shown = replace(shown, result=listed)
    show.show(shown, output)
