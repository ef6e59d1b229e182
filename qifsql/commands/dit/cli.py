"""``qifsql dit``."""

from qifsql.commands.dit.spec import DitOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Data, Output

EXAMPLES = {
    "How much does the guess about a person depend on their own record?": (
        "qifsql dit data-samples/thesis_table_3_2.csv -q age,gender -s illness --method "
        "mondrian --k 2"
    ),
    "Compare several k.": (
        "qifsql dit data-samples/thesis_table_3_2.csv -q age,gender -s illness --method "
        "mondrian --k 2,3"
    ),
}


def dit(
    data: Data, options: DitOptions, charts: Charts, output: Output, settings: Settings
) -> Answer:
    """Differential inference testing: how much a guess about a person depends on their record."""
    from qifsql.commands.dit.dit import dit as run

    dataset, records = data.dataset(), options.get("records")
    result = run(dataset, **options, settings=settings)
    notes = [f"{result.written:,} rows written to {records}"] if records else []
    title = f"inference testing of {dataset.name}"
    return Answer(result, title, notes=notes, aside=("distribution",))
