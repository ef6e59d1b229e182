"""Measures of links between a release and a register, from block sizes in both.

In a block, f is the number of records of the release, F that of the register, and c the number of
people who are in both by the truth. A link joins a record of the release with one of the register
in the same block; links are one to one, so a block has min(f, F) links. Sources: M58; the three
adversaries of PoPETs section 2.1; k-map: Sweeney 2001; delta-presence: Nergiz et al. 2007.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """Blocks with the same f and F: f, F, the number of these blocks, and their sum of c."""

    released: int
    registered: int
    blocks: int
    same: int

    @property
    def links(self) -> int:
        """Return the number of links in all these blocks."""
        return min(self.released, self.registered) * self.blocks

    @property
    def alike(self) -> int:
        """Return max(f, F): a link is right with a chance of at most one in this number."""
        return max(self.released, self.registered)


def highest(least: int | None) -> float | None:
    """Return the largest chance that a link to one person is right: 1 / n of the smallest block.

    ``least`` is the size of that block. Counted in records of the release, for a person who is
    known to be there, the result is the prosecutor's risk; counted in people of the population,
    over blocks that have people of the release, it is the journalist's risk. It is above 0 and at
    most 1; NULL if there is no block.
    """
    return None if least is None else 1 / least


def marketer(expected: float, people: int) -> float:
    """Return the share of people who are linked correctly: the ``expected`` number over all people.

    If only the block distinguishes people, one link in each block is expected to be correct; for a
    release of a population it is min(f, F) / max(f, F), with f and F people in the block. The
    result is from 0 to 1, never NULL.
    """
    return expected / people


def measured(kinds: Sequence[Kind], *, records: int, truth: bool) -> dict[str, Any]:
    """Return the measures of register linking by name; ``records`` is the number in the release.

    A measure is None without blocks. Without the ``truth``, nobody knows who is in both files, and
    the measures of right links are None.
    """
    in_release = [k for k in kinds if k.released]
    in_register = [k for k in kinds if k.registered]
    in_both = [k for k in in_release if k.registered]
    unique = [k for k in in_both if k.released == k.registered == 1]
    expected = math.fsum(k.links / k.alike for k in in_both)
    return {
        "release_blocks": _count_blocks(in_release),
        "register_blocks": _count_blocks(in_register),
        "shared_blocks": _count_blocks(in_both),
        "unique_in_release": _count_blocks(k for k in in_release if k.released == 1),
        "unique_in_register": _count_blocks(k for k in in_register if k.registered == 1),
        "unique_in_both": _count_blocks(unique),
        "matched": sum(k.released * k.blocks for k in in_both),
        **_risks(in_release, in_register, expected, records),
        "agreeing": sum(k.same for k in in_both) if truth else None,
        "correct_unique": sum(k.same for k in unique) if truth else None,
        "correct_expected": math.fsum(k.same / k.alike for k in in_both) if truth else None,
    }


def _count_blocks(kinds: Iterable[Kind]) -> int:
    return sum(k.blocks for k in kinds)


def _risks(
    in_release: Sequence[Kind], in_register: Sequence[Kind], expected: float, records: int
) -> dict[str, Any]:
    """Return k-map, delta-presence, and the risks of three adversaries; None without blocks.

    ``in_release`` and ``in_register`` are the blocks with records in that file. ``expected`` is the
    number of right links to expect, ``records`` that of the release.
    """
    presence = [min(1.0, k.released / k.registered) for k in in_register]
    k = min((k.released for k in in_release), default=None)
    k_map = min((k.registered for k in in_release if k.registered), default=None)
    return {
        "k_map": k_map,
        "prosecutor_risk": highest(k),
        "journalist_risk": highest(k_map),
        "marketer_risk": marketer(expected, records),
        "expected_correct": expected,
        "delta_min": min(presence, default=None),
        "delta_max": max(presence, default=None),
    }


def curve(kinds: Iterable[Kind], *, truth: bool) -> list[dict[str, Any]]:
    """Return the confidence curve: a row per chance that a link is right, the surest first.

    ``links`` have that chance; the sums (``at_least``) are over links with that chance or more.
    """
    by_alike: dict[int, list[Kind]] = {}  # a link is right with the chance 1 / alike
    for kind in kinds:
        if kind.links:
            by_alike.setdefault(kind.alike, []).append(kind)
    rows: list[dict[str, Any]] = []
    links, expected, correct = 0, 0.0, 0.0
    for alike, group in sorted(by_alike.items()):
        n, same = sum(k.links for k in group), sum(k.same for k in group)
        links, expected, correct = links + n, expected + n / alike, correct + same / alike
        rows.append(
            {
                "confidence": 1 / alike,
                "links": n,
                "links_at_least": links,
                "expected_at_least": expected,
                "correct_at_least": correct if truth else None,
            }
        )
    return rows
