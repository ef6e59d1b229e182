"""Attacks: the success of an adversary before and after a release.

``keyed`` attacks single releases and releases with a person key; ``keyless`` attacks releases that
must be linked first; ``learning`` learns from one file and attacks the people of another;
``noisy`` compares an adversary whose knowledge has errors and gaps; ``candidates`` looks for the
records of people with raw values.
"""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Unpack

from qifsql.commands.attack import keyed
from qifsql.commands.attack.spec import AttackOptions
from qifsql.data.collection import Source
from qifsql.data.option import check_names
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
    """Measure the success of an adversary before and after a release.

    Attacks one release, or a collection of releases that a key joins or transition rules link.

    Args:
        model: One of crs cas cms irs ias ims crl cal cml irl ial iml, or several of one kind of
            target, as "crs,cas".
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. For longitudinal models a list of
            these, the focal one first, or a Collection.

    Returns:
        A Result. frame: one row per model, secret and gain function, with prior_, posterior_ and
        degradation_deterministic and _probabilistic (probabilities in [0, 1]; the deterministic
        degradation is a difference, the probabilistic one a factor), records, blocks and
        singled_out (people). With link: one row per secret and knowledge. With knows: the columns
        knows, low and high (95 % interval where people were drawn). With learn: one row per secret,
        with low and high of the success, and rapid. With people: the column view, and for
        compatible candidates (mean), k and misled (people). details: histogram, groups, households,
        quantiles, thresholds with sure and sure_curve, where asked for; bounds with match-any.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.attack("crs", "data-samples/school_census_2018.parquet",
        ...     qids="TP_SEXO,NU_ANO")
        >>> result.frame["singled_out"].item()
        9
        >>> round(result.frame["posterior_probabilistic"].item(), 4)
        0.0057

    Source: M7 to M20 (success and degradation), M59 to M63 (links), M117 and M130 to M133
    (learning), M150 to M158 (knows), M196 and M200 (people), M217 and M219 (sure); Alvim et al.,
    PoPETs 2022.

    """
    module = _module_for(options)
    result: Result = module.run(module.specify(model, source, options, settings), settings)
    return result


def rehearse(
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
    module = _module_for(options)
    module.look_up(module.specify(model, source, options, settings), settings)


def _module_for(options: AttackOptions) -> ModuleType:
    """Return the module of the kind of attack that these options ask for.

    Each has three functions. ``specify(model, source, options, settings)`` checks the options and
    returns a request, without a look at the data; ``run(request, settings)`` returns the result;
    ``look_up(request, settings)`` only looks up the names of the request in the data. Those of
    other kinds than the usual one are loaded when they are asked for.
    """
    check_names(options, AttackOptions)
    if options.get("people") is not None:
        return _load("candidates")
    if options.get("hierarchies"):
        raise InputError(
            "hierarchies say which raw values of people a cell contains; name their file (people)"
        )
    learns = any(options.get(name) is not None for name in ("learn", "learner", "rapid"))
    if learns and options.get("knows"):
        raise InputError(
            "who learns from a file (--learn) knows the quasi-identifiers exactly; leave --knows "
            "or --learn out"
        )
    if learns:
        return _load("learning")
    if options.get("knows"):
        return _load("noisy")
    if options.get("draws") is not None or options.get("records") is not None:
        raise InputError(
            "draws and records are about noisy knowledge; name it with --knows (a row per record "
            "of the exact adversary: qifsql inspect --show records)"
        )
    if options.get("link") is not None:
        return _load("keyless")
    if options.get("presence") is not None or options.get("truth") or options.get("one_to_one"):
        raise InputError(
            "presence, truth and one_to_one are about links without a key; name --link rules"
        )
    return keyed


def _load(kind: str) -> ModuleType:
    return import_module(f"qifsql.commands.attack.{kind}.{kind}")
