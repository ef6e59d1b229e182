"""``qifsql attack``."""

from qifsql.cli import options, running, typed
from qifsql.cli.options import Adversary, Data, Limits, Others, Output
from qifsql.cli.unkeyed import Links
from qifsql.cli.wishes import Charts, Details, Gains


def attack(
    model: options.Model,
    data: Data,
    others: Others,
    links: Links,
    adversary: Adversary,
    gains: Gains,
    details: Details,
    charts: Charts,
    output: Output,
    limits: Limits,
    target: options.Targets = None,
    member: options.Member = None,
    progressive: options.Progressive = False,
) -> None:
    """Measure what an adversary gains from releases: success before, after, degradation."""
    from qifsql.cli import show
    from qifsql.linkage.keyless import attack as run
    from qifsql.report.parts import Part

    show.check(output)
    charts.check()
    source, asked = others.source(data), adversary.arguments()
    asked |= others.arguments() | gains.arguments() | details.arguments() | links.arguments()
    links.check(charts)
    if target is None and links.link is None:
        asked |= charts.histogram(details.histogram)
    known = typed.targets(target, asked["qids"])
    with running.store(details.store, quiet=limits.quiet), limits.settings() as settings:
        result = run(
            model,
            source,
            **asked,
            where=data.where,
            target=known,
            member=typed.single(member),
            progressive=progressive,
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)
    charts.draw("of_attack" if links.link is None else "of_links", result, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.report import attacks

        return attacks.attack(result.rows(), result.details)

    aside: tuple[str, ...] = () if details.histogram else ("histogram",)
    aside += ("links", "calibration") if links.link is not None else ()
    title = f"qifsql: {options.named(source)}"
    told = show.Shown(
        result.frame, result.origin, render, title, result.details, aside, result.notes
    )
    show.show(told, output)
