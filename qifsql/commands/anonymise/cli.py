"""``qifsql anonymise``."""

from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.engine.settings import Settings
from qifsql.errors import plural
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Data, Out, Summary

EXAMPLES = {
    "Generalise sex and year of birth to blocks of 5 or more (Mondrian).": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o release.parquet "
        "--method mondrian --k 5 -q TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "Publish years of birth in steps of 5 years; suppress the records of classes below 5.": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o recoded.csv "
        "--method recode --change NU_ANO:5 -q TP_SEXO,NU_ANO --k 5 --suppress 0.01"
    ),
    "Find the full-domain generalisation that loses least, with at most 4 % suppressed.": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o best.csv "
        "--method lattice -q TP_SEXO,NU_MES,NU_ANO --k 5 --suppress 0.04"
    ),
    "Hide the fewest cells that leave 5 records in every combination of cells.": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o hidden.csv "
        "--method suppress --k 5 -q TP_SEXO,NU_ANO"
    ),
    "Form groups of 3 similar records (MDAV).": (
        "qifsql anonymise data-samples/thesis_table_3_2.csv -o release.csv --method mdav "
        "--k 3 -q age,gender"
    ),
    "Draw the race again with the invariant matrix of sdcMicro (PRAM).": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o randomised.csv "
        "--method pram -s TP_COR_RACA --pd 0.8 --alpha 0.5"
    ),
    "Keep one enrolment per pupil.": (
        "qifsql anonymise data-samples/school_census_2019_enrolments.parquet --one-per ID_ALUNO "
        "-o pupils.parquet"
    ),
}


def anonymise(
    data: Data,
    settings: Settings,
    out: Out,
    summary: Summary,
    options: AnonymiseOptions,
    charts: Charts,
) -> Answer:
    """Write a release: quasi-identifiers generalised, one record per person, or fewer columns.

    Methods: Mondrian and MDAV make classes of similar records; recode makes changes that you name;
    lattice searches the best full-domain generalisation; suppress hides the fewest cells (local
    suppression); pram draws cells again by a matrix (post-randomisation). --one-per keeps one
    randomly chosen record per person; --drop alone keeps all records, without these columns. With
    --person, k, l and t are kept on different people: several records of one person hide nobody.
    """
    from qifsql.commands.anonymise.anonymise import anonymise as run

    dataset = data.dataset()
    result = run(dataset, out, **options, seed=settings.seed, settings=settings)
    row = result.frame.row(0, named=True)
    done = f"{plural(row['records'] - row.get('dropped', 0), 'record')} written to {out}"
    is_treated = result.kind == "treat"
    title = f"treatment of {dataset.name}" if is_treated else f"{dataset.name}, anonymised"
    return Answer(result, title, notes=[done])
