"""``qifsql treat``."""

from qifsql.commands.treat.spec import TreatOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits
from qifsql.options.measuring import Out, Summary

EXAMPLES = {
    "Keep one enrolment per pupil.": (
        "qifsql treat data-samples/school_census_2019_enrolments.parquet --key ID_ALUNO "
        "-o pupils.parquet"
    ),
    "Draw others, and write CSV.": (
        "qifsql treat data-samples/school_census_2019_enrolments.parquet --key ID_ALUNO "
        "--seed 7 -o pupils.csv"
    ),
}


def treat(data: Data, limits: Limits, out: Out, summary: Summary, options: TreatOptions) -> None:
    """Keep one randomly chosen record per person (--seed, default 0)."""
    from qifsql.commands.treat.treat import treat as run
    from qifsql.options import show

    dataset = data.dataset()
    output = summary.output(out, *dataset.paths)
    seed = limits.seed or 0
    with limits.settings() as settings:
        result = run(dataset, out, **options, seed=seed, where=data.where, settings=settings)
    people = result.frame["people"][0]
    done = f"{people:,} records written to {out}"
    runtime.remarks([*result.notes, done], quiet=limits.quiet)

    title = f"qifsql: treatment of {dataset.name}"
    show.show(show.Shown(result=result, title=title), output)
