"""The people with a reported secret, against the adversary whose knowledge has errors and gaps.

What is known of them follows the same laws, which depend on everybody's values (M194, M150). The
secret is known to be missing where nobody who may be meant reports it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qifsql.commands.attack.noisy import elimination
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.elimination import Outcome
from qifsql.measures import bayes
from qifsql.query.microdata_steps import twice_where_reported


def columns(coded: Coded, row: Mapping[str, Any], j: int) -> dict[str, Any]:
    """Return the columns ``bayes.REPORTED`` of secret ``j`` for the adversary who errs.

    ``row`` is that of the exact adversary, with these columns. They are None if there are too many
    pairs to count, but for the number of people and their success before the release.
    """
    microdata = coded.bound.microdata
    secret = microdata.secrets[j - 1]
    alone = replace(microdata, secrets=(secret,), reported=True)
    twice = coded.of(replace(microdata, secrets=(twice_where_reported(secret),)))
    reporting, missing = (elimination.measure(part, 1) for part in (coded.of(alone), twice))
    if reporting is None or missing is None:
        return unmeasured(row)
    share = missing.success.deterministic * twice.attacked / coded.attacked
    after = _after(reporting) | {"certain_missing": int(share * coded.records)}
    return unmeasured(row) | after


def unmeasured(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same columns without those of the success after the release, which are None."""
    before = ("reported", "prior_deterministic_reported", "prior_probabilistic_reported")
    return dict.fromkeys(bayes.REPORTED) | {name: row[name] for name in before}


def _after(outcome: Outcome) -> dict[str, Any]:
    success = outcome.success
    return {
        "posterior_deterministic_reported": float(success.deterministic),
        "posterior_probabilistic_reported": float(success.probabilistic),
        "worst_case_reported": success.worst_case,
        "certain_reported": success.certain,
    }
