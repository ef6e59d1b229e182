r"""Patterns of identifiers: a small part of regular expressions.

=====================  ===========================================================================
``A``                  itself, as every character without a special meaning; blanks count
``\.``, ``\\``         the character after the backslash, if that is no letter or digit
``\t``, ``\n``         tab and line feed
``\d``                 a digit, ``[0-9]``
``[0-9A-F_]``          one of these characters and ranges; ``\]``, ``\-``, ``\d`` are allowed
``P{3}``, ``P{2,4}``   P three times, two to four times; ``P?`` is ``P{0,1}``
``P|Q``                P or Q
``(P)``                P as one part
=====================  ===========================================================================

The parser of ``re`` is private (``re._parser``) and changes with Python, so this module has one.

A pattern describes whole identifiers, finitely many of them. Parts without an end (``*``, ``+``,
``{2,}``) or without a list of characters (``.``, ``[^...]``) are refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qifsql.errors import InputError, quoted

TIMES = 1000  # most repetitions of a part
CHARACTERS = 70_000  # most characters in one class
NESTED = 50  # deepest nesting of brackets
SURROGATES = frozenset(range(0xD800, 0xE000))  # halves of a pair in UTF-16, no characters

_DIGITS = frozenset(range(ord("0"), ord("9") + 1))
_ESCAPED: Mapping[str, frozenset[int]] = {
    "d": _DIGITS,
    "t": frozenset({ord("\t")}),
    "n": frozenset({ord("\n")}),
}
_ENDLESS = "a repetition without an end; say how often, as in {1,8}"


@dataclass(frozen=True)
class Symbols:
    """One character of a set of code points."""

    codes: frozenset[int]


@dataclass(frozen=True)
class Chain:
    """All parts, one after the other; without parts: the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Choice:
    """One of the parts."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """The part, repeated ``smallest`` to ``largest`` times."""

    part: "Node"
    smallest: int
    largest: int


Node: TypeAlias = Symbols | Chain | Choice | Repeat


def parse(pattern: str) -> Node:
    """Return a pattern as a tree; InputError if it is invalid, with the place, from 1."""
    return _Parser(pattern).parse()


def parse_all(patterns: Sequence[str]) -> Node:
    """Return the tree for the words of any of these patterns."""
    return Choice(tuple(parse(pattern) for pattern in patterns))


class _Parser:
    """A parser that reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0  # the place of the next character
        self.depth = 0  # of round brackets that are open

    def parse(self) -> Node:
        """Return the whole pattern."""
        node = self._choice()
        if self.at < len(self.text):  # only a closing bracket ends a choice early
            raise self._wrong("an unopened bracket )")
        return node

    def _choice(self) -> Node:
        parts = [self._chain()]
        while self._taken("|"):
            parts.append(self._chain())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _chain(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._repeated(self._part()))
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _repeated(self, part: Node) -> Node:
        """Return a part that was read, with the repetition behind it, if there is one."""
        if self._next() in ("*", "+"):
            raise self._wrong(_ENDLESS)
        if self._taken("?"):
            return Repeat(part, 0, 1)
        if self._next() != "{":
            return part
        match = re.compile(r"\{(\d{1,9})(,(\d{0,9}))?\}", re.ASCII).match(self.text, self.at)
        if not match:
            raise self._wrong("a bracket { that is not a repetition such as {3} or {2,4}")
        if match[2] == ",":
            raise self._wrong(_ENDLESS)
        smallest, largest = int(match[1]), int(match[3] or match[1])
        if smallest > largest or largest > TIMES:
            raise self._wrong(f"a repetition whose bounds are not in order, or above {TIMES:,}")
        self.at = match.end()
        return Repeat(part, smallest, largest)

    def _part(self) -> Node:
        """Return the next part: a group, a class, an escape or a character."""
        character = self.text[self.at]
        if character == "(":
            return self._group()
        if character == "[":
            return Symbols(self._class())
        if character in "*+?{}]":
            raise self._wrong(f"{character} with nothing to stand behind; \\{character} is itself")
        if character == ".":
            raise self._wrong("a dot, which names no characters; write a class, or \\. for itself")
        if character in "^$":
            raise self._wrong(
                f"{character}: a pattern says the whole identifier; \\{character} is itself"
            )
        if character == "\\":
            return Symbols(self._escape())
        self.at += 1
        return Symbols(frozenset({ord(character)}))

    def _group(self) -> Node:
        """Return the part in round brackets that begins here."""
        opened = self.at  # errors name this place
        self.at += 3 if self.text.startswith("(?:", self.at) else 1
        if self._next() == "?":
            raise self._wrong("an unknown kind of group; use (...)")
        self.depth += 1
        if self.depth > NESTED:
            raise self._wrong(f"brackets nested more than {NESTED} deep")
        node = self._choice()
        self.depth -= 1
        if not self._taken(")"):
            self.at = opened
            raise self._wrong("an unclosed bracket (")
        return node

    def _class(self) -> frozenset[int]:
        """Return the code points of the class in square brackets that begins here."""
        opened, codes = self.at, set[int]()
        self.at += 1
        if self._next() == "^":
            raise self._wrong("a negated class; list its characters instead")
        while not self._taken("]"):
            first = self._member(opened)
            if self._next() != "-" or self.text[self.at + 1 : self.at + 2] in ("", "]"):
                codes |= first  # not a range
                continue
            self.at += 1
            last = self._member(opened)
            if len(first) != 1 or len(last) != 1 or min(first) > min(last):
                raise self._wrong("a range whose ends are not in order")
            codes |= set(range(min(first), min(last) + 1)) - SURROGATES
            if len(codes) > CHARACTERS:
                raise self._wrong(f"a class of more than {CHARACTERS:,} characters")
        if not codes:
            raise self._wrong("a class of no characters")
        return frozenset(codes)

    def _member(self, opened: int) -> frozenset[int]:
        """Return a character of a class, or those of an escape; the class ``opened`` at a place."""
        character = self._next()
        if not character:
            self.at = opened
            raise self._wrong("an unclosed bracket [")
        if character == "\\":
            return self._escape()
        self.at += 1
        return frozenset({ord(character)})

    def _escape(self) -> frozenset[int]:
        """Return the code points that a backslash and the character after it stand for."""
        character = self.text[self.at + 1 : self.at + 2]
        if not character:
            raise self._wrong("a backslash at its end; \\\\ is a backslash")
        if character not in _ESCAPED and character.isalnum():
            raise self._wrong(f"\\{character}, which is not known here; there are \\d, \\t and \\n")
        self.at += 2
        return _ESCAPED.get(character, frozenset({ord(character)}))

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _taken(self, character: str) -> bool:
        """Read a character, if it is the next one; return whether it was."""
        if self._next() != character:
            return False
        self.at += 1
        return True

    def _wrong(self, what: str) -> InputError:
        return InputError(f"pattern {quoted(self.text)} has, at character {self.at + 1}, {what}")
