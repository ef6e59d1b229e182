"""Attacks: how well an adversary guesses before a release, and after it.

Releases with a person key, and single ones, are attacked by ``keyed``; releases that have to be
linked first by ``keyless``.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Unpack

from qifsql.commands.attack import keyed
from qifsql.commands.attack.keyless import keyless
from qifsql.commands.attack.spec import AttackOptions
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.results.result import Result


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    settings: Settings | None = None,
    **options: Unpack[AttackOptions],
) -> Result:
    """Attack one release, or a collection of them, joined by a key or linked without one.

    Args:
        model: one of the twelve (``qifsql.adversary.models``), or several of one kind of target.
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``; for
            longitudinal models several of these, the focal one first, or a Collection.
        settings: memory, threads, temporary folder, progress.
        **options: what the adversary knows and wants (``qifsql.adversary.options``), and:
            ``progressive``: attack the focal dataset, then with each auxiliary one more; a row for
            each. ``measures``: of ``shannon``, ``guessing``, ``capacity``, ``risks``, or ``all``.
            ``histogram``: count people by their success in percent. ``unit``: the unit of the
            gains, such as ``BRL``; for the words only. ``population``: the people who may be in
            the release: for models of membership, which then infer who is, joined by the key; for
            others, for the journalist's risk. ``store``: a DuckDB file that keeps the counts: asked
            again with another gain function, measure or detail, the data are not read again.
            ``link``: rules by which releases without a key are linked
            (``qifsql.adversary.transitions``), such as ``sex,birth_date; age:+1; city:stay=0.93``.
            ``key`` is then what stay probabilities are learned from (``city:stay=?``), and used for
            nothing else; ``where`` leaves out records of the focal release; of the options above
            none are taken. With ``link``: ``presence``, the chance that a person of one release is
            in the next (1); ``truth``, the key that tells who is who, one for all releases or one
            for each, to compare with; ``one_to_one``, people compete for records
            (``qifsql.commands.attack.keyless.match``).

    Returns:
        A Result; its ``frame`` has one row per model, secret and gain function, with ``link`` one
        per secret and knowledge (``keyless.KEYLESS``).

    Raises:
        InputError: what was asked for does not fit the data; the message says what to try.
        EngineError: memory or disk ran out.

    """
    result: Result = _way(options).attack(model, source, settings=settings, **options)
    return result


def fit(
    model: str | Sequence[str],
    source: Source,
    settings: Settings | None = None,
    **options: Unpack[AttackOptions],
) -> None:
    """Look up every name of an attack in its data, without attacking.

    The options are those of ``attack``.

    Raises:
        InputError: A name, an expression or a type does not fit.
    """
    _way(options).fit(model, source, settings, **options)


def _way(options: AttackOptions) -> ModuleType:
    """Return the module that attacks releases so, of which only one takes links."""
    if options.get("link") is not None:
        return keyless
    if options.get("presence") is not None or options.get("truth") or options.get("one_to_one"):
        raise InputError(
            "presence, truth and one_to_one are about links without a key; name --link rules"
        )
    return keyed
