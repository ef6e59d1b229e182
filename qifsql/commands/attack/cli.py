"""``qifsql attack``."""

from qifsql.commands.attack.spec import AttackOptions
from qifsql.errors import InputError
from qifsql.options import groups, runtime
from qifsql.options.groups import Data, Limits, Others, Output
from qifsql.options.measuring import Charts

EXAMPLES = {
    "How many pupils does somebody single out who knows birth date, sex and school?": (
        "qifsql attack crs data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO,CO_ENTIDADE"
    ),
    "How well can a disability be inferred from two linked years?": (
        "qifsql attack cal data-samples/school_census_2018.parquet "
        "data-samples/school_census_2019.parquet --key ID_ALUNO -q "
        "TP_SEXO,NU_ANO,CO_ENTIDADE -s IN_NECESSIDADE_ESPECIAL"
    ),
}


def attack(
    model: groups.Model,
    data: Data,
    others: Others,
    options: AttackOptions,
    charts: Charts,
    output: Output,
    limits: Limits,
) -> None:
    """Measure what an adversary gains from releases: success before and after."""
    from qifsql.commands.attack.attack import attack as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    linked = options.get("link") is not None
    if linked and charts.charts is not None and not options.get("truth"):
        raise InputError(
            "the chart of an attack without a key (--link) compares links with the truth; name "
            "the key that tells it (--truth), or leave --charts out"
        )
    source, histogram = others.source(data), options.get("histogram", False)
    learns = options.get("learn") is not None
    if learns:
        options["learn"] = data.dataset(str(options["learn"]))
        if charts.charts is not None:
            raise InputError("an attack that learns (--learn) has no charts; leave --charts out")
    if not options.get("target") and not linked and not options.get("knows"):
        options["histogram"] = charts.histogram(histogram)
    options["where"] = data.where
    with runtime.store(options.get("store"), quiet=limits.quiet), limits.settings() as settings:
        result = run(model, source, settings=settings, **options)
    written = options.get("records")
    notes = [] if written is None else [f"written: {written}"]
    runtime.remarks([*result.notes, *notes], quiet=limits.quiet)
    charts.draw("attack", result, quiet=limits.quiet)

    aside: tuple[str, ...] = () if histogram else ("histogram",)
    aside += ("links", "calibration") if linked else ()
    title = f"qifsql: {groups.named(source)}"
    show.show(show.Shown(result=result, title=title, aside=aside), output)
