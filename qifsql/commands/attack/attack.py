"""Attacks: how well an adversary guesses before a release, and after it.

Releases with a person key, and single ones, are attacked by ``keyed``; releases that have to be
linked first by ``keyless``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from qifsql.adversary.spec import Options
from qifsql.commands.attack import keyed
from qifsql.commands.attack.keyless import keyless
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.results.result import Result


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    progressive: bool = False,
    measures: str | Sequence[str] = (),
    histogram: bool = False,
    unit: str | None = None,
    population: str | Path | Dataset | None = None,
    store: str | Path | None = None,
    link: str | Sequence[str] | None = None,
    presence: float | str | None = None,
    truth: str | Sequence[str] = (),
    one_to_one: bool = False,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """Attack one release, or a collection of them, joined by a key or linked without one.

    Args:
        model: one of the twelve (``qifsql.adversary.models``), or several of one kind of target.
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``; for
            longitudinal models several of these, the focal one first, or a Collection.
        progressive: attack the focal dataset, then with each auxiliary one more; a row for each.
        measures: of ``shannon``, ``guessing``, ``capacity``, ``risks``, or ``all``.
        histogram: count people by their success in percent.
        unit: the unit of the gains, such as ``BRL``; for the words only.
        population: the people who may be in the release: for models of membership, which then
            infer who is, joined by the key; for others, for the journalist's risk.
        store: a DuckDB file that keeps the counts: asked again with another gain function,
            measure or detail, the data are not read again.
        link: rules by which releases without a key are linked (``qifsql.adversary.transitions``),
            such as ``sex,birth_date; age:+1; city:stay=0.93``. ``key`` is then what stay
            probabilities are learned from (``city:stay=?``), and used for nothing else; ``where``
            leaves out records of the focal release; of the options above none are taken.
        presence: with ``link``: the chance that a person of one release is in the next (1).
        truth: with ``link``: the key that tells who is who, one for all releases or one for each,
            to compare with.
        one_to_one: with ``link``: people compete for records
            (``qifsql.commands.attack.keyless.match``).
        settings: memory, threads, temporary folder, progress.
        **options: what the adversary knows and wants; see ``qifsql.adversary.spec.Options``.

    Returns:
        A Result; its ``frame`` has one row per model, secret and gain function, with
        ``link`` one per secret and knowledge (``keyless.KEYLESS``).

    Raises:
        InputError: what was asked for does not fit the data; the message says what to try.
        EngineError: memory or disk ran out.

    """
    extras: dict[str, Any] = {
        "progressive": progressive,
        "measures": measures,
        "histogram": histogram,
        "unit": unit,
        "population": population,
        "store": store,
    }
    if link is not None:
        further = {"presence": presence, "truth": truth, "one_to_one": one_to_one, **options}
        return keyless.attack(model, source, link=link, settings=settings, **extras, **further)
    if presence is not None or truth or one_to_one:
        raise InputError(
            "presence, truth and one_to_one are about links without a key; name --link rules"
        )
    return keyed.attack(model, source, settings=settings, **extras, **options)


def fit(
    model: str | Sequence[str], source: Source, settings: Settings | None = None, **options: Any
) -> None:
    """Look up every name of an attack in its data, without attacking.

    The options are those of ``attack``.

    Raises:
        InputError: A name, an expression or a type does not fit.
    """
    way = keyed if "link" not in options else keyless
    way.fit(model, source, settings, **options)
