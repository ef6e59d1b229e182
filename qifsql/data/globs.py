"""Patterns of names, as of files: ``*``, ``?`` and ``[abc]``."""

from fnmatch import fnmatchcase


def matches(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern; an open bracket that nothing closes is itself."""
    closed, bracket, rest = pattern.rpartition("]")
    literal = rest.replace("[", "[[]")  # each would be looked for its end, to the end of the text
    return fnmatchcase(name, f"{closed}{bracket}{literal}")
