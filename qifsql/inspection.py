"""The SQL of an attack, to read and to paste into a DuckDB prompt. No attack is run here."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from qifsql import compiler, dialect
from qifsql.dataset import Dataset
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.session import opened
from qifsql.spec import Attack, NullRule


def sql(
    model: str | Sequence[str],
    source: str | Path | Dataset,
    *,
    qids: str | Sequence[str] = (),
    secret: str | Sequence[str] = (),
    key: str | None = None,
    weight: str | None = None,
    where: str | None = None,
    null: NullRule = "distinct",
    target: Mapping[str, object] | None = None,
    step: str | None = None,
    language: str = "duckdb",
    settings: Settings | None = None,
) -> str:
    """The statement that gives the numbers of ``attack`` when it is pasted into a DuckDB prompt.

    Nothing is attacked: only names and types of columns are read, of CSV from all lines. ``step``
    stops after that step and shows its rows.
    For other arguments see ``attack``.
    """
    if language != "duckdb":
        raise InputError(f'there is no SQL for "{language}" in this version; there is for duckdb')
    spec = Attack.of(
        model,
        source,
        qids=qids,
        secret=secret,
        key=key,
        weight=weight,
        where=where,
        null=null,
        target=target,
    )
    with opened(spec, settings) as (_, bound):
        about = [f"-- {m.acronym.upper()}: {m.title}; {m.source}" for m in bound.models]
        return "\n".join([*about, dialect.script(compiler.answer_plan(bound), step)])
