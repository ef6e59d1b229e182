"""``qifsql attack``."""

from qifsql.commands.attack.spec import AttackOptions
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.options import shared_options
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Auxiliary, Charts, Data, Output

EXAMPLES = {
    "How many pupils does somebody single out who knows sex and school?": (
        "qifsql attack data-samples/school_census_2018.parquet -q TP_SEXO,CO_ENTIDADE"
    )
}


def attack(
    *,
    model: shared_options.Model = "crs",
    data: Data,
    auxiliary: Auxiliary,
    options: AttackOptions,
    charts: Charts,
    output: Output,
    settings: Settings,
) -> Answer:
    """Measure what an adversary gains on records or, with --person, on people."""
    from qifsql.commands.attack.attack import attack as run

    if charts.charts is not None:
        _check_charts(options)
    links = options.get("link") is not None
    source, histogram = auxiliary.source(data), options.get("histogram", False)
    if not (options.get("target") or links or options.get("knows") or options.get("people")):
        options["histogram"] = charts.histogram(histogram)
    result = run(model, source, settings=settings, **options)
    written = options.get("records")
    notes = [f"written: {written}"] if written else []
    # details that nobody asked for as tables
    aside = [*([] if histogram else ["histogram"]), *(["links", "calibration"] if links else [])]
    return Answer(result, shared_options.title_of(source), notes=notes, aside=aside)


def _check_charts(options: AttackOptions) -> None:
    """Refuse charts of kinds of attacks that have none."""
    if options.get("link") is not None and not options.get("truth"):
        raise InputError(
            "the chart of an attack without a key (--link) compares links with the truth; name "
            "the key that tells it (--truth), or leave --charts out"
        )
    if options.get("learn") is not None:
        raise InputError("an attack that learns (--learn) has no charts; leave --charts out")
    if options.get("people") is not None:
        raise InputError("an attack with --people has no charts; leave --charts out")
