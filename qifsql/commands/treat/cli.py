"""``qifsql treat``."""

from qifsql.commands.treat.spec import TreatOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits
from qifsql.options.measuring import Out, Summary


def treat(data: Data, limits: Limits, out: Out, summary: Summary, options: TreatOptions) -> None:
    """Write one record of each person, chosen at random by --seed (0 unless given)."""
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
