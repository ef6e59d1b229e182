"""``qifsql anonymise``."""

from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits
from qifsql.options.measuring import Out, Summary

EXAMPLES = {
    "Generalise sex and year of birth to blocks of 5 or more (Mondrian).": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o release.parquet "
        "--method mondrian --k 5 -q TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "Form groups of 3 similar records (MDAV).": (
        "qifsql anonymise data-samples/thesis_table_3_2.csv -o release.csv --method mdav "
        "--k 3 -q age,gender"
    ),
}


def anonymise(
    data: Data, limits: Limits, out: Out, summary: Summary, options: AnonymiseOptions
) -> None:
    """Write a release with generalised quasi-identifiers (Mondrian or MDAV)."""
    from qifsql.commands.anonymise.anonymise import anonymise as run
    from qifsql.options import show

    dataset = data.dataset()
    output = summary.output(out, *dataset.paths)
    with limits.settings() as settings:
        result = run(dataset, out, **options, where=data.where, settings=settings)
    done = f"{result.frame['records'][0]:,} records written to {out}"
    runtime.remarks([*result.notes, done], quiet=limits.quiet)

    show.show(show.Shown(result=result, title=f"qifsql: {dataset.name}, anonymised"), output)
