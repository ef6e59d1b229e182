"""The number of examples of hypothesis: few before a commit, more in CI, many in a campaign.

``QIFSQL_EFFORT`` is ``quick``, ``usual`` (the default) or ``many``, which ``make slow`` asks for.
"""

import os

SHARE = {"quick": 0.1, "usual": 0.3, "many": 2.0}
EFFORT = os.environ.get("QIFSQL_EFFORT", "usual")


def examples(n: int) -> int:
    """Return how many examples to try where ``n`` are a thorough test of a property."""
    return max(2, round(n * SHARE[EFFORT]))
