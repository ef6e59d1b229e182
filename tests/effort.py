"""The effort of tests: how much they try, and how long they wait.

``QIFSQL_EFFORT`` is ``quick``, ``usual`` (the default) or ``many``, which ``make slow`` asks for:
few examples of hypothesis before a commit, more in CI, many in a campaign.
"""

import os

SHARE = {"quick": 0.05, "usual": 0.1, "many": 2.0}
EFFORT = os.environ.get("QIFSQL_EFFORT", "usual")
PATIENCE = 240.0  # seconds after which a process hangs, however slow and busy the machine is
SOON = 120.0  # seconds: what is not stopped takes longer; the aim is a second or two


def examples(n: int) -> int:
    """Return how many examples to try where ``n`` are a thorough test of a property."""
    return max(2, round(n * SHARE[EFFORT]))
