"""The SQL of an attack, to read and to paste into a DuckDB prompt. No attack is run here."""

from collections.abc import Sequence
from typing import Unpack

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.query import compiler, render


def sql(
    model: str | Sequence[str],
    source: Source,
    *,
    step: str | None = None,
    language: str = "duckdb",
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> str:
    """Return the statement that gives the numbers of an attack in a DuckDB prompt.

    Nothing is attacked: only names and types of columns are read, of CSV from all lines. ``step``
    stops after that step and shows its rows.
    ``options`` are those of ``qifsql.adversary.options.Options``.
    """
    if language != "duckdb":
        raise InputError(f'there is no SQL for "{language}" in this version; there is for duckdb')
    spec = Attack.of(model, source, **options)
    with opened(spec, settings, joined=False) as (_, bound):
        about = [f"-- {m.acronym.upper()}: {m.title}; {m.source}" for m in bound.models]
        return "\n".join([*about, render.script(compiler.answer_plan(bound), step)])
