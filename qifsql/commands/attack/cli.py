"""``qifsql attack``."""

from qifsql.commands.attack.keyless.options import Links
from qifsql.options import groups, runtime, texts
from qifsql.options.groups import (
    Adversary,
    Data,
    Limits,
    Others,
    Output,
)
from qifsql.options.measuring import Charts, Details, Gains


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
    from qifsql.presentation.parts import Part

    show.check(output)
    charts.check()
    source, arguments = others.source(data), adversary.arguments()
    arguments |= others.arguments() | gains.arguments() | details.arguments() | links.arguments()
    links.check(charts)
    if target is None and links.link is None:
        arguments |= charts.histogram(details.histogram)
    values = texts.targets(target, arguments["qids"])
    with runtime.store(details.store, quiet=limits.quiet), limits.settings() as settings:
        result = run(
            model,
            source,
            **arguments,
            where=data.where,
            target=values,
            member=texts.single(member),
            progressive=progressive,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("attack", result, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.commands.attack import view

        return view.attack(result.rows(), result.details)

    aside: tuple[str, ...] = () if details.histogram else ("histogram",)
    aside += ("links", "calibration") if links.link is not None else ()
    title = f"qifsql: {groups.named(source)}"
    display = show.Shown(result=result, title=title, aside=aside, view=render)
    show.show(display, output)
