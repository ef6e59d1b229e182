"""Comparison: a file beside its releases, beside changes of it, or its attributes beside others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import polars as pl

from qifsql.commands.check.check import judge
from qifsql.commands.compare.changes.what_if import what_if
from qifsql.commands.compare.refinement.refinement import refines
from qifsql.commands.compare.releases import compare_releases
from qifsql.commands.compare.spec import CompareOptions
from qifsql.data.dataset import Tabular, datasets
from qifsql.data.option import as_names, bare_name, complete, is_given
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.results.result import Result
from qifsql.study import policy as policies

NOTE = (
    "the risk of recipients is that of cells as they are: a generalised value is a value; their "
    "greatest risk is an upper bound where they know something with a chance or with errors; files "
    "that they hold are left out (qifsql check measures them)"
)
RELEASES = "a comparison with releases"
CHANGES = "a comparison with changes"
REFINEMENT = "a test of refinement"
TAKEN = {
    RELEASES: [
        *("qids", "secret", "hierarchies", "plain", "where", "person", "key"),
        *("pairs", "formula", "policy"),
    ],
    CHANGES: ["qids", "secret", "change", "until", "policy", "hierarchies", "where", "person"],
    REFINEMENT: ["qids", "refines", "null", "where"],
}
"""The options of each comparison."""


def compare(
    original: Tabular,
    sanitised: Tabular | Sequence[Tabular] = (),
    *,
    settings: Settings | None = None,
    **options: Unpack[CompareOptions],
) -> Result:
    """Compare a file with its releases, with changes of its columns, or sets of its attributes.

    With releases: the remaining risk and the loss of each; cells may be generalised, a missing
    value is a value. With a policy, too: the risk of each of its recipients for each file. With
    change, until or policy: the risk before and after changes, without
    writing data; with bounds, the smallest change (fewest quasi-identifiers, then fewest steps)
    that keeps all of them. With refines: whether knowing qids never leaks less than knowing the
    attributes of refines, for every secret and gain. With person, the risk is that of people, once
    for an adversary who knows all records of a person and once for one who knows one; a bound
    holds in both readings.

    Args:
        original: The file before: a path, a data frame or a Dataset, as the source of an attack.
        sanitised: One release or several, each as the source of an attack.

    Returns:
        A Result. frame with releases: one row per file and secret with k, l, success (CRS, CAS, in
        [0, 1]) and losses; details: columns, the losses by column; pairs, the associations of every
        two columns; coefficients, of the models before and after; recipients, the risk of each
        recipient of a policy for each file. With changes: one row per change
        and secret with the same and met: a change keeps all bounds. With refines: one row
        with refines (true or false); details: counterexample, the smallest block of qids that
        spans several blocks of refines.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> _ = qifsql.anonymise("data-samples/thesis_table_3_2.csv", "k3.csv",
        ...     method="mondrian", k=3, qids="age,gender")
        >>> result = qifsql.compare("data-samples/thesis_table_3_2.csv", "k3.csv",
        ...     qids="age,gender", secret="illness")
        >>> result.frame["release"].to_list()[-1]
        'k3.csv'
        >>> pupils = "data-samples/school_census_2018.parquet"
        >>> changed = qifsql.compare(pupils, qids="NU_DIA,NU_MES,NU_ANO", change="drop=NU_DIA")
        >>> changed.frame.height >= 2
        True
        >>> bool(qifsql.compare(pupils, qids="NU_ANO", refines="decade=NU_ANO//10"))
        True

    Source: M30 (refinement), M38 (saved by dropping or coarsening), M55 to M57 (losses),
    M211 to M213 (pairs, coefficients), M218 (recipients).

    """
    options = complete(options, CompareOptions)
    files = datasets(sanitised)
    kind = REFINEMENT if options["refines"] else RELEASES if files else CHANGES
    usual = {"null": "distinct", "pairs": False}
    values = {n: value for n, value in options.items() if is_given(value)}
    used = {n for n, value in values.items() if n not in usual or value != usual[n]}
    used |= {"releases"} if files and kind == REFINEMENT else set()
    if unsuitable := min(used - set(TAKEN[kind]), default=None):
        raise InputError(f"{kind} does not take {unsuitable}; leave it out")
    if kind == REFINEMENT:
        a, b = as_names(options["qids"]), as_names(options["refines"])
        return refines(
            original, a, b, where=options["where"], null=options["null"], settings=settings
        )
    if kind == CHANGES:
        return what_if(original, options, settings=settings)
    compared = compare_releases(original, files, options, settings=settings)
    if options["policy"] is None:
        return compared
    return _with_recipients(compared, [original, *files], options, settings)


def _with_recipients(
    compared: Result, files: Sequence[Tabular], options: CompareOptions, settings: Settings | None
) -> Result:
    """Return the result with the detail ``recipients``: risks by file and recipient of the policy.

    For a release that lacks a quasi-identifier, it is left out of what a recipient knows.
    """
    names = ("qids", "secret", "where", "person", "key")
    adversary = {name: options[name] for name in names if options[name]}  # type: ignore[literal-required]
    policy = policies.read(options["policy"] or "", **adversary)
    if not policy.recipients:
        what = "a comparison with releases takes the recipients of a policy, and it has none"
        raise policy.lines.wrong(f"{what}; write [[recipient]], or use check")
    absent = compared.details["columns"].filter(pl.col("column").is_null())
    titles = dict(compared.frame.select("file", "release").iter_rows())
    tables = []
    for number, file in enumerate(files, 1):
        missing = set(absent.filter(file=number)["quasi_identifier"])
        about_file = _without_columns(policy, missing)
        if about_file.recipients:
            risks = judge(about_file, file, settings=settings).details["recipients"]
            named = {"release": pl.lit(titles[number]), "file": pl.lit(number)}
            tables.append(risks.select(**named, **{name: name for name in risks.columns}))
    described = {"recipients": [recipient.plain() for recipient in policy.recipients]}
    origin = replace(
        compared.origin,
        spec={**compared.origin.spec, "policy": str(policy.file), **described},
        paths=(*compared.origin.paths, *([str(policy.file)] if policy.lines.file else [])),
    )
    details = {**compared.details, "recipients": pl.concat(tables)}
    return replace(compared, origin=origin, details=details, notes=(*compared.notes, NOTE))


def _without_columns(policy: policies.Policy, missing: set[str]) -> policies.Policy:
    """Return the recipients of a policy, for a file that lacks some quasi-identifiers.

    It has no other rules. Recipients who know nothing then are left out.
    """
    texts = as_names(policy.adversary["qids"])  # columns, or named expressions
    present = [text for text in texts if bare_name(text) not in missing]
    recipients = [recipient.without(missing) for recipient in policy.recipients]
    return replace(
        policy,
        adversary={**policy.adversary, "qids": present},
        rules=(),
        unnamed="ignore",
        recipients=tuple(recipient for recipient in recipients if recipient.qids),
    )
