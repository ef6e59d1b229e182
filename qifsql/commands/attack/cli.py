"""``qifsql attack``."""

from qifsql.commands.attack.keyless.options import Links
from qifsql.options import groups, runtime, types
from qifsql.options.details import Charts, Details, Gains
from qifsql.options.groups import (
    Adversary,
    Data,
    Limits,
    Others,
    Output,
)


def attack(
    model: groups.Model,
    data: Data,
    others: Others,
    links: Links,
    adversary: Adversary,
    gains: Gains,
    details: Details,
    charts: Charts,
    output: Output,
    limits: Limits,
    target: groups.Targets = None,
    member: groups.Member = None,
    progressive: groups.Progressive = False,
) -> None:
    """Measure what an adversary gains from releases: success before, after, degradation."""
    from qifsql.commands.attack.attack import attack as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    source, arguments = others.source(data), adversary.arguments()
    arguments |= others.arguments() | gains.arguments() | details.arguments() | links.arguments()
    links.check(charts)
    if target is None and links.link is None:
        arguments |= charts.histogram(details.histogram)
    values = types.targets(target, arguments["qids"])
    with runtime.store(details.store, quiet=limits.quiet), limits.settings() as settings:
        result = run(
            model,
            source,
            **arguments,
            where=data.where,
            target=values,
            member=types.single(member),
            progressive=progressive,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("attack", result, quiet=limits.quiet)

    aside: tuple[str, ...] = () if details.histogram else ("histogram",)
    aside += ("links", "calibration") if links.link is not None else ()
    title = f"qifsql: {groups.named(source)}"
    show.show(show.Shown(result=result, title=title, aside=aside), output)
