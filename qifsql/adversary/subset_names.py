"""Subsets of quasi-identifiers as texts: ``day+month``, where names may contain ``+``, too."""

from collections.abc import Sequence

from qifsql.errors import InputError, did_you_mean, quoted


def subset(text: str, names: Sequence[str]) -> int:
    """Return a subset as a number from its names, joined by ``+``; a name may contain ``+``."""
    if not text:
        raise InputError(
            'subset "" is empty: a subset names one quasi-identifier or more, as in day+school'
        )
    members = _members(text, names)
    if members is None:
        rest = text
        while prefixes := [n for n in names if rest.startswith(f"{n}+")]:
            rest = rest[len(max(prefixes, key=len)) + 1 :]
        hint = did_you_mean(rest.split("+")[0], names)
        raise InputError(f"subset {quoted(text)} names no quasi-identifier there{hint}")
    if len(set(members)) < len(members):
        raise InputError(f"subset {quoted(text)} names a quasi-identifier twice; name it once")
    return sum(1 << i for i in members)


def _members(text: str, names: Sequence[str]) -> list[int] | None:
    """Return the numbers of the names in a text, trying longer names first; None on failure."""
    for name in sorted(names, key=len, reverse=True):
        if text == name:
            return [names.index(name)]
        if text.startswith(f"{name}+"):
            rest = _members(text[len(name) + 1 :], names)
            if rest is not None:
                return [names.index(name), *rest]
    return None
