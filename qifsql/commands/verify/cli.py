"""``qifsql verify``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.verify.spec import VerifyOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Output

Stored = Annotated[
    Path | None,
    typer.Argument(metavar="RESULT", help="A stored result (.parquet or .json), or a folder."),
]
Files = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help="The attacked data, if they were moved.")
]

EXAMPLES = {
    "Store a result, and let somebody else check it.": (
        "qifsql attack crs data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO "
        "-o risk.parquet && qifsql verify risk.parquet"
    ),
    "The data are elsewhere now; run only the SQL of the manifest.": (
        "qifsql verify risk.parquet data-samples/school_census_2018.parquet --sql"
    ),
    "Testers have returned their claims about the people who were drawn.": (
        "qifsql verify test --claims test/testers/claims.csv"
    ),
}


def verify(
    options: VerifyOptions,
    output: Output,
    settings: Settings,
    result: Stored = None,
    files: Files = None,
) -> Answer:
    """Recompute each number of a stored result by other ways; exit code 4 if one differs.

    An attack is repeated by the SQL of its manifest, as it is, in a bare DuckDB; by the
    SQL that qifsql sql prints; and by SQLite (at most 200,000 people). The measures are
    computed in exact fractions, by other code than that of qifsql attack.

    The data are found by their SHA-256 digests, at their old place, next to RESULT, or in
    FILE. Counts agree if they are equal, other numbers within 1e-12. Exit code 4 also
    where nothing could be checked; numbers that no way gives are listed with the reason.

    With --claims, RESULT is the folder of a motivated intruder test (qifsql inspect --draw), by
    default the one in which they are. The claims of each tester are scored beside what the model
    predicts; exit code 4 if they are right more often than that, by more than luck explains.
    """
    from qifsql.commands.verify.verify import verify as run

    checked = run(result, files, settings=settings, **options)
    name = result.name if result is not None else "claims"
    return Answer(checked, f"check of {name}", met=bool(checked.met))
