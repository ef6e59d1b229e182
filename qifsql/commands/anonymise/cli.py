"""``qifsql anonymise``."""

from qifsql.commands.anonymise.spec import AnonymiseOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits
from qifsql.options.measuring import Out, Summary


def anonymise(
    data: Data, limits: Limits, out: Out, summary: Summary, options: AnonymiseOptions
) -> None:
    """Write a release whose quasi-identifiers are generalised, to attack and to compare."""
    from qifsql.commands.anonymise.anonymise import anonymise as run
    from qifsql.options import show

    dataset = data.dataset()
    output = summary.output(out, *dataset.paths)
    with limits.settings() as settings:
        result = run(dataset, out, **options, where=data.where, settings=settings)
    done = f"{result.frame['records'][0]:,} records written to {out}"
    runtime.remarks([*result.notes, done], quiet=limits.quiet)

    show.show(show.Shown(result=result, title=f"qifsql: {dataset.name}, anonymised"), output)
