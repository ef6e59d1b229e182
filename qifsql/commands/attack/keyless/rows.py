"""Attacks without a person key as rows: the prior, the focal release alone, all linked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from sqlglot import exp

from qifsql.adversary import target as targets
from qifsql.adversary.models import Model
from qifsql.commands.attack.keyless.bind import Release
from qifsql.commands.attack.keyless.chain import Chain
from qifsql.commands.attack.keyless.posterior import Outcome, Outcomes
from qifsql.data.collection import ABSENT, tagged
from qifsql.engine.catalog import Catalog
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.query.plan import Plan, Step
from qifsql.results.assessment import beside_reported

NOT_THERE, NOBODY = 0, -1  # numbers of observations: of who is not in the release, that nobody has


def tagged_names(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return the quasi-identifiers of the releases, with their tags."""
    return tuple(tagged(r.number, q.name) for r in releases for q in r.qids)


def bind_target(
    kind: Model, target: Mapping[str, object], releases: Sequence[Release], catalog: Catalog
) -> list[list[str | None]]:
    """Return, for each release, the target's values of its qids; [] for collective models."""
    qids = [
        replace(q, name=tagged(r.number, q.name), number=r.number) for r in releases for q in r.qids
    ]
    values = targets.bind(kind, target, qids, catalog)
    if not kind.individual:
        return []
    return [[values[tagged(r.number, q.name)] for q in r.qids] for r in releases]


def target_observations(chain: Chain, target_values: Sequence[Sequence[str | None]]) -> list[int]:
    """Return the number of the target's observation in each release (see ``_observation``).

    ``target_values`` has her values by release.
    """
    releases = zip(chain.releases, target_values, strict=True)
    return [_observation(chain, release, values) for release, values in releases]


def _observation(chain: Chain, release: Release, values: Sequence[str | None]) -> int:
    """Return the number of the observation of these values in a release; ``NOBODY`` has it.

    It is ``NOT_THERE`` if the target is not in a later release: absent or, unless that is told
    apart, with all values missing.
    """
    absent = any(v is ABSENT for v in values)
    missing = not values or (not release.has_absence and all(v is None for v in values))
    if release.number > 1 and (absent or missing):
        return NOT_THERE
    observation = release.observation([None if v is ABSENT else v for v in values])
    query = exp.select(exp.alias_(observation, "observed"))
    step = Step("wanted", "One row: what is observed of the target.", query)
    plan = Plan((step,), chain.query("sighted", sights=f"sights_{release.number}"))
    numbers = [number for (number,) in chain.tables.answer(plan, "looking for the target")]
    return int(numbers[0]) if numbers else NOBODY


def result_rows(
    models: Sequence[Model],
    outcomes: Outcomes,
    secrets: Sequence[str],
    target_values: Sequence[Sequence[str | None]],
) -> list[dict[str, Any]]:
    """Return a row per question and knowledge: the focal release alone, and all linked."""
    chain, numbers = outcomes.chain, range(1, len(secrets) + 1)
    records = chain.records[0]
    # Knowledge, number of releases, outcome of each crowd: 0 is re-identification, then secrets.
    results: list[tuple[str, int, list[Outcome]]] = []
    if chain.releases[0].qids:
        results.append(("focal alone", 1, outcomes.alone()))
    results.append(("linked", chain.last, outcomes.linked()))
    # Of re-identification each record is a value of its own.
    priors = [_guess_success(records, 1, records), *(_prior_success(chain, j) for j in numbers)]
    tells_missing = outcomes.target is None and any(
        chain.count_reported(j) < records for j in numbers
    )
    rows = []
    for m in models:
        questions = (0,) if m.goal == "re-identification" else numbers
        for j, (knowledge, n, by_crowd) in product(questions, results):
            releases = chain.releases[:n]
            row: dict[str, Any] = {"knowledge": knowledge, "records": records}
            row |= _success_row(m, releases, by_crowd[j], by_crowd[0], priors[j])
            row["secret"] = secrets[j - 1] if j else None
            if tells_missing:
                row = beside_reported(row, _reported_columns(outcomes, by_crowd, j))
            if m.individual:
                row["target"] = _target_words(releases, target_values)
                row["best_guess"] = outcomes.best_guess(j) if j and n > 1 else None
            rows.append(row)
    return rows


def _reported_columns(
    outcomes: Outcomes, by_crowd: Sequence[Outcome], j: int
) -> dict[str, Any] | None:
    """Return the columns ``bayes.REPORTED`` of secret j; None if nobody misses it.

    ``by_crowd`` has the outcome of each crowd, a set of people that is attacked. Where some people
    miss the secret, one crowd has those who report it, and the next crowd everybody.
    """
    crowd, chain = outcomes.reporting.get(j), outcomes.chain
    if crowd is None:  # all people report the secret, or nobody does
        if j and not chain.count_reported(j):
            nobody = {"reported": 0, "certain_reported": 0, "certain_missing": chain.records[0]}
            return dict.fromkeys(bayes.REPORTED) | nobody
        return None
    row = bayes.reported_row(
        _prior_success(chain, crowd), by_crowd[crowd].success, chain.count_reported(j)
    )
    return row | {"certain_missing": by_crowd[crowd + 1].success.certain}


def _prior_success(chain: Chain, crowd: int) -> Success:
    """Return the success without quasi-identifiers: of guessing the crowd's most frequent value."""
    query = chain.query("secret_counts", secret_crowd=f"secret_crowd_{crowd}")
    ((records, most_frequent, values),) = chain.tables.answer(query, "counting secrets")
    return _guess_success(records, most_frequent, values)


def _guess_success(records: int, most_frequent: int, values: int) -> Success:
    """Return the success of guessing the most frequent of so many values."""
    share, is_certain = Fraction(most_frequent, records), values == 1
    return Success(Fraction(is_certain), share, float(share), records if is_certain else 0)


def _target_words(
    releases: Sequence[Release], target_values: Sequence[Sequence[str | None]]
) -> str:
    """Return what is known of the target in each release, as in ``age=30, 2:age=31``."""
    return ", ".join(
        f"{tagged(r.number, q.name)}={'(missing)' if value is None else value}"
        for r, values in zip(releases, target_values, strict=False)
        for q, value in zip(r.qids, values, strict=True)
    )


def _success_row(
    m: Model, releases: Sequence[Release], outcome: Outcome, owner: Outcome, prior: Success
) -> dict[str, Any]:
    """Return the columns of success; ``owner`` is the outcome of re-identification (secret 0).

    Of one target, ``matches`` counts the people who may be she; if the secret is certain, it is
    certain for all of them.
    """
    qids = tagged_names(releases)
    after = outcome.success
    if m.individual:
        after = replace(after, certain=owner.matches if after.deterministic == 1 else 0)
    row = {
        "model": m.acronym.upper(),
        "datasets": len(releases),
        "n_qids": len(qids),
        "qids": list(qids),
        "blocks": outcome.blocks,
        "singled_out": owner.revealing if m.individual else owner.success.certain,
        **bayes.row(prior, after),
    }
    return row | ({"matches": owner.matches} if m.individual else {})
