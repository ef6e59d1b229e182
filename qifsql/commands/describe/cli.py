"""``qifsql describe``."""

from dataclasses import replace

from qifsql.commands.describe.spec import DescribeOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "Which columns single people out, and which roles may they have?": (
        "qifsql describe data-samples/school_census_2018.parquet"
    ),
    "Describe the girls' records, as a table for a spreadsheet.": (
        "qifsql describe data-samples/school_census_2018.parquet --where 'TP_SEXO = 2' "
        "-o columns.csv"
    ),
}


def describe(data: Data, output: Output, settings: Settings, options: DescribeOptions) -> Answer:
    """Describe the columns: missing, distinct, entropy, people singled out, suggested roles."""
    from qifsql.commands.describe import view
    from qifsql.commands.describe.describe import describe as run
    from qifsql.commands.describe.describe import household_of, person_of
    from qifsql.presentation.language import said
    from qifsql.presentation.parts import Command, Paragraph

    dataset = data.dataset()
    result = run(dataset, **options, settings=settings)
    everything = (result.frame, result.details, result.spec)
    rows = result.rows()
    person = options.get("person") or person_of(rows)
    line = view.command(rows, data.arguments(), person, household_of(rows))
    ready = [Paragraph(said("To attack with these roles:")), Command(line)] if line else []
    if "values" in result.details:  # they are the table of results; people see both
        result = replace(result, frame=result.details["values"], details={})
    return Answer(result, dataset.name, view=lambda *_: [*view.parts(*everything), *ready])
