"""Attacks: the success of an adversary before and after a release.

``keyed`` attacks single releases and releases with a person key; ``keyless`` attacks releases that
must be linked first; ``learning`` learns from one file and attacks the people of another;
``noisy`` compares an adversary whose knowledge has errors and gaps.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Unpack

from qifsql.commands.attack import keyed
from qifsql.commands.attack.keyless import keyless
from qifsql.commands.attack.learning import learning
from qifsql.commands.attack.noisy import noisy
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
    """Measure the success of an adversary before and after a release.

    Attacks one release, or a collection of releases that a key joins or transition rules link.

    Args:
        model: One of crs cas cms irs ias ims crl cal cml irl ial iml, or several of one kind of
            target, as "crs,cas".
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. For longitudinal models a list of
            these, the focal one first, or a Collection.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine.
        qids: Quasi-identifiers: columns, patterns such as CO_*, or named expressions such as
            decade=birth_year//10. One text may name several: "age,sex".
        secret: Secrets (sensitive attributes): columns or named expressions.
        weight: Column or expression >= 0 that weights records; NULL is an error. By default every
            record weighs 1.
        where: SQL condition; other records are left out. NULL counts as false.
        null: "distinct" (a missing value is one more value), "drop" (leave out records that
            miss a quasi-identifier or secret) or "match-any" (a missing quasi-identifier may be
            anything: the columns low and high bound the success over all completions).
        key: Person key of a collection: one column name for all datasets, or one for each. A
            missing key matches nobody.
        wave: Column that splits a long table into datasets: "year", or "year=2018,2019" with the
            focal one first.
        absent: People who are not in a dataset: "null" (like missing values) or "distinct".
        prior: File of the adversary's beliefs before the release: a column named like the secret
            (or value), and probability.
        gain: Gain functions: identity, tries:3, penalty:0.5, tolerance:5, worth:FILE,
            matrix:FILE, sql:EXPRESSION over guess and secret. Each adds rows.
        target: Known values of one person: quasi-identifier to value; None is a missing value.
        member: Membership flag with two values: a column or named expression.
        by: Column or named expression whose values are groups of people, measured apart.
        thresholds: Count people whose success is at least this, in [0, 1].
        quantiles: Quantiles of the success over people, in [0, 1].
        measures: Further measures: shannon (bits), guessing (guesses), capacity (factor),
            pointwise (bits), security, risks, anonymity, or all.
        histogram: Count people by success in percent (details["histogram"]).
        unit: Unit of the gains, such as BRL; only for the words.
        person: Column or named expression that says whose record it is. The records of a person
            are then one set, and the attack is on people; a missing person is one of its own.
        household: Column or named expression of households, whose risks are measured besides
            (details["households"]).
        population: Dataset of the people who may be in the release: joined by the key for
            membership, else for the journalist's risk.
        progressive: One row per number of datasets, from the focal one to all.
        store: DuckDB file that stores the counts, to reuse them for other gains and measures. It
            contains cell values.
        link: Rules that link releases without a key, such as "sex,birth_date; age:+1;
            city:stay=0.93".
        presence: With link: probability in [0, 1] that a person is also in the next release;
            default 1.
        truth: With link: the true key, one name or one per release, to compare links with.
        one_to_one: With link: match each later record to at most one person.
        learn: File or frame that the adversary learns from (an original, sanitised or synthetic
            release), to guess the secrets of the people of source. Model cas; where holds for
            both files. Generalised cells equal only the same cells: no value is looked up in them.
        learner: With learn: "table" (default: the most frequent value among equal records, and of
            all records where there are none), or "decision-tree", "random-forest",
            "gradient-boosting" or "logistic-regression" of scikit-learn (qifsql[ml]).
        rapid: With learn: the threshold of RAPID in [0, 1]; default 0.3.
        knows: Laws of noisy knowledge, such as "age:+-2; city:right=0.9; job:missing=0.3";
            also sd=2, table=FILE (value, known as, probability) and exact. Adds the row of an
            adversary who knows this of everybody to that of the exact adversary.
        draws: With knows: number of people to draw instead of the exact sum.
        records: With knows: file (.parquet, .csv) of a row per record with the expected success.

    Returns:
        A Result. frame: one row per model, secret and gain function, with prior_, posterior_ and
        degradation_deterministic and _probabilistic (probabilities in [0, 1]; the deterministic
        degradation is a difference, the probabilistic one a factor), records, blocks and
        singled_out (people). With link: one row per secret and knowledge. With knows: the columns
        knows, low and high (95 % interval where people were drawn). With learn: one row per secret,
        with low and high of the success, and rapid. details: histogram, groups, households,
        thresholds, quantiles, where asked for; bounds with match-any.

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
    (learning), M150 to M158 (knows); Alvim et al., PoPETs 2022.

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
    """Return the module for these options.

    ``learning`` with a file to learn from, ``noisy`` with laws of knowledge, ``keyless`` with link
    rules, otherwise ``keyed``.
    """
    learns = any(options.get(name) is not None for name in ("learn", "learner", "rapid"))
    if learns and options.get("knows"):
        raise InputError(
            "who learns from a file (--learn) knows the quasi-identifiers exactly; leave --knows "
            "or --learn out"
        )
    if learns:
        return learning
    if options.get("knows"):
        return noisy
    if options.get("draws") is not None or options.get("records") is not None:
        raise InputError(
            "draws and records are about noisy knowledge; name it with --knows (a row per record "
            "of the exact adversary: qifsql records)"
        )
    if options.get("link") is not None:
        return keyless
    if options.get("presence") is not None or options.get("truth") or options.get("one_to_one"):
        raise InputError(
            "presence, truth and one_to_one are about links without a key; name --link rules"
        )
    return keyed
