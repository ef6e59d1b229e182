"""``qifsql attack``."""

from qifsql.cli import options, running
from qifsql.cli.options import names


def attack(
    model: options.Model,
    file: options.File,
    qids: options.Qids = None,
    secret: options.Secrets = None,
    target: options.Targets = None,
    key: options.Key = None,
    weight: options.Weight = None,
    where: options.Where = None,
    null: options.Null = "distinct",
    all_varchar: options.AllVarchar = False,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    format_: options.Format = None,
    out: options.Out = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    temp: options.Temp = None,
    progress: options.ShowProgress = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure what an adversary gains from a release: success before, after, degradation."""
    from qifsql.assess import attack as run
    from qifsql.cli import show
    from qifsql.dataset import Dataset

    show.check(format_, out)
    known = names(qids)
    dataset = Dataset.open(file, all_varchar=all_varchar, delimiter=delimiter, encoding=encoding)
    with running.settings(memory, threads, temp, progress) as limits:
        result = run(
            model,
            dataset,
            qids=known,
            secret=names(secret),
            key=key,
            weight=weight,
            where=where,
            null=null,  # type: ignore[arg-type]
            target=options.targets(target, known),
            settings=limits,
        )
    running.remarks(result.notes, quiet=quiet)

    def render() -> object:
        from qifsql.report import tables

        return tables.assessment(result)

    shown = show.Shown(result.frame, result.origin, render, f"qifsql: {dataset.name}")
    show.show(shown, format_, out)
