"""What is wanted of a sweep, and how it is to be worked on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """What is wanted of a sweep, and how it is to be worked on (see ``sweep``)."""

    sizes: str | None = None
    subsets: tuple[str, ...] = ()
    releases: bool = False
    threshold: float | None = None
    search: bool = False
    sample: float | None = None
    histogram: bool = False
    workspace: Path | None = None
    keep: bool = True
    restart: bool = False
    time_budget: float | None = None
    explain: bool = False
    tell: Tell = lambda _line: None

    def plain(self) -> dict[str, Any]:
        """What was asked beside the attack, as plain data for manifests."""
        return {
            "sizes": self.sizes,
            "subsets": list(self.subsets) or None,
            "releases": self.releases or None,
            "threshold": self.threshold,
            "search": self.search or None,
            "sample": self.sample,
        }
