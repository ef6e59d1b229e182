"""The words of a pattern as an automaton: each word is one path.

So words are counted without writing them out, and each word is written once. The automaton is
deterministic even if patterns overlap: the same characters always lead to one state. It is made
from a nondeterministic one by the subset construction, and has no cycles, because a pattern has
finitely many words. The work of Python grows with the patterns, not with their words; SQL writes
these by going from state to state.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qifsql.errors import InputError, quoted

MOST_REPETITIONS = 1000  # of a part
MOST_CHARACTERS = 70_000  # in one class
DEEPEST_NESTING = 50  # of brackets
SURROGATES = frozenset(range(0xD800, 0xE000))  # halves of a pair in UTF-16, no characters

_DIGITS = frozenset(range(ord("0"), ord("9") + 1))
_ESCAPED: Mapping[str, frozenset[int]] = {
    "d": _DIGITS,
    "t": frozenset({ord("\t")}),
    "n": frozenset({ord("\n")}),
}
_ENDLESS = "a repetition without an end; say how often, as in {1,8}"
MOST_POSITIONS = 20_000  # characters in the patterns, written out
MOST_MOVES = 50_000  # between states
MOST_VISITS = 20_000_000  # of positions, to find all states
START, END = 0, 1  # positions

Kind = int  # characters that no pattern distinguishes are of one kind
State = int


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
        node = self._parse_choice()
        if self.at < len(self.text):  # only a closing bracket ends a choice early
            raise self._error("an unopened bracket )")
        return node

    def _parse_choice(self) -> Node:
        parts = [self._parse_chain()]
        while self._skip("|"):
            parts.append(self._parse_chain())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _parse_chain(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._parse_repetition(self._parse_part()))
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _parse_repetition(self, part: Node) -> Node:
        """Return a part that was read, with the repetition behind it, if there is one."""
        if self._next() in ("*", "+"):
            raise self._error(_ENDLESS)
        if self._skip("?"):
            return Repeat(part, 0, 1)
        if self._next() != "{":
            return part
        match = re.compile(r"\{(\d{1,9})(,(\d{0,9}))?\}", re.ASCII).match(self.text, self.at)
        if not match:
            raise self._error("a bracket { that is not a repetition such as {3} or {2,4}")
        if match[2] == ",":
            raise self._error(_ENDLESS)
        smallest, largest = int(match[1]), int(match[3] or match[1])
        if smallest > largest or largest > MOST_REPETITIONS:
            raise self._error(
                f"a repetition whose bounds are not in order, or above {MOST_REPETITIONS:,}"
            )
        self.at = match.end()
        return Repeat(part, smallest, largest)

    def _parse_part(self) -> Node:
        """Return the next part: a group, a class, an escape or a character."""
        character = self.text[self.at]
        if character == "(":
            return self._parse_group()
        if character == "[":
            return Symbols(self._parse_class())
        if character in "*+?{}]":
            raise self._error(f"{character} with nothing to stand behind; \\{character} is itself")
        if character == ".":
            raise self._error("a dot, which names no characters; write a class, or \\. for itself")
        if character in "^$":
            raise self._error(
                f"{character}: a pattern says the whole identifier; \\{character} is itself"
            )
        if character == "\\":
            return Symbols(self._parse_escape())
        self.at += 1
        return Symbols(frozenset({ord(character)}))

    def _parse_group(self) -> Node:
        """Return the part in round brackets that begins here."""
        opened = self.at  # errors name this place
        self.at += 3 if self.text.startswith("(?:", self.at) else 1
        if self._next() == "?":
            raise self._error("an unknown kind of group; use (...)")
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise self._error(f"brackets nested more than {DEEPEST_NESTING} deep")
        node = self._parse_choice()
        self.depth -= 1
        if not self._skip(")"):
            self.at = opened
            raise self._error("an unclosed bracket (")
        return node

    def _parse_class(self) -> frozenset[int]:
        """Return the code points of the class in square brackets that begins here."""
        opened, codes = self.at, set[int]()
        self.at += 1
        if self._next() == "^":
            raise self._error("a negated class; list its characters instead")
        while not self._skip("]"):
            first = self._parse_member(opened)
            if self._next() != "-" or self.text[self.at + 1 : self.at + 2] in ("", "]"):
                codes |= first  # not a range
                continue
            self.at += 1
            last = self._parse_member(opened)
            if len(first) != 1 or len(last) != 1 or min(first) > min(last):
                raise self._error("a range whose ends are not in order")
            codes |= set(range(min(first), min(last) + 1)) - SURROGATES
            if len(codes) > MOST_CHARACTERS:
                raise self._error(f"a class of more than {MOST_CHARACTERS:,} characters")
        if not codes:
            raise self._error("a class of no characters")
        return frozenset(codes)

    def _parse_member(self, opened: int) -> frozenset[int]:
        """Return a character of a class, or those of an escape; the class begins at ``opened``."""
        character = self._next()
        if not character:
            self.at = opened
            raise self._error("an unclosed bracket [")
        if character == "\\":
            return self._parse_escape()
        self.at += 1
        return frozenset({ord(character)})

    def _parse_escape(self) -> frozenset[int]:
        """Return the code points that a backslash and the character after it stand for."""
        character = self.text[self.at + 1 : self.at + 2]
        if not character:
            raise self._error("a backslash at its end; \\\\ is a backslash")
        if character not in _ESCAPED and character.isalnum():
            raise self._error(f"\\{character}, which is not known here; there are \\d, \\t and \\n")
        self.at += 2
        return _ESCAPED.get(character, frozenset({ord(character)}))

    def _next(self) -> str:
        """Return the next character; an empty text at the end."""
        return self.text[self.at : self.at + 1]

    def _skip(self, character: str) -> bool:
        """Read a character, if it is the next one; return whether it was."""
        if self._next() != character:
            return False
        self.at += 1
        return True

    def _error(self, what: str) -> InputError:
        return InputError(f"pattern {quoted(self.text)} has, at character {self.at + 1}, {what}")


@dataclass(frozen=True)
class Automaton:
    """An automaton: its states from 0, ``moves`` by kind of character, and ``finals``.

    Words begin in state 0 and may end in ``finals``. ``kinds`` are the code points of each kind.
    """

    kinds: tuple[tuple[int, ...], ...]
    moves: Mapping[State, Mapping[Kind, State]]
    finals: frozenset[State]

    @property
    def words(self) -> int:
        """Return the number of different words."""
        return self.words_from()[0]

    def words_from(self) -> dict[State, int]:
        """Return by state the number of different words that lead from it to an end."""
        counts: dict[State, int] = {}
        waiting = [0]  # a stack: a state is counted after all states that it moves to
        while waiting:
            state = waiting[-1]
            uncounted = [after for after in self.moves[state].values() if after not in counts]
            waiting += uncounted
            if not uncounted:
                waiting.pop()
                counts[state] = int(state in self.finals)  # the empty word
                for kind, after in self.moves[state].items():
                    counts[state] += len(self.kinds[kind]) * counts[after]
        return counts

    def cut(self, min_prefixes: int) -> int:
        """Return after how many characters to cut words into prefixes and suffixes.

        It is the cut with the fewest rows of both that has ``min_prefixes`` prefixes or more; words
        share the suffixes of a state. With too few words, it is the length of the longest.
        """
        suffixes, ended, depth = self.words_from(), 0, 0  # ended: words shorter than ``depth``
        level: dict[State, int] = {0: 1}  # prefixes of ``depth`` characters, by their state
        rows: dict[int, int] = {}  # prefixes and suffixes, by depth
        while level:
            prefixes = ended + sum(level.values())
            if prefixes >= min_prefixes:
                rows[depth] = prefixes + sum(suffixes[state] for state in level)
            ended += sum(n for state, n in level.items() if state in self.finals)
            next_level: dict[State, int] = {}  # with one character more
            for state, n in level.items():
                for kind, after in self.moves[state].items():
                    next_level[after] = next_level.get(after, 0) + n * len(self.kinds[kind])
            level = next_level
            depth += 1
        return min(rows, key=rows.__getitem__) if rows else depth - 1


def build_automaton(node: Node) -> Automaton:
    """Return the automaton of a pattern; InputError if it would be too large.

    A state is the set of positions in the pattern that the same characters can lead to (subset
    construction).
    """
    pattern = _Positions()
    pattern.build(node, START, END)
    classes = {codes for moves in pattern.moves for codes, _target in moves}
    kinds = _group_characters(classes)  # the code points of each kind
    kinds_of_class = {  # the kinds that make a class, by its code points
        codes: [k for k, kind in enumerate(kinds) if kind[0] in codes] for codes in classes
    }
    start = pattern.closure({START})
    states: dict[frozenset[int], State] = {start: 0}  # by the positions that are a state
    moves: dict[State, dict[Kind, State]] = {}
    unexplored, move_count = [start], 0  # states whose moves are not known yet
    while unexplored:
        here = unexplored.pop()
        moves[states[here]] = {}
        for kind, reached in pattern.reached_by_kind(here, kinds_of_class).items():
            after = pattern.closure(reached)
            if after not in states:
                states[after] = len(states)
                unexplored.append(after)
            moves[states[here]][kind] = states[after]
            move_count += 1
        if move_count > MOST_MOVES or pattern.visits > MOST_VISITS:
            raise InputError(
                "the patterns overlap in too many ways to make each word once; give fewer at a "
                "time, or make their parts differ earlier"
            )
    finals = frozenset(state for reached, state in states.items() if END in reached)
    return Automaton(kinds, moves, finals)


class _Positions:
    """The positions in a pattern, from ``START`` to ``END``: a nondeterministic automaton.

    ``moves`` has for each position the characters that may be read there (a set of code points) and
    the position after them; ``free`` the positions that it leads to without a character. ``visits``
    counts positions for a limit on the work.
    """

    def __init__(self) -> None:
        self.moves: list[list[tuple[frozenset[int], int]]] = [[], []]
        self.free: list[list[int]] = [[], []]
        self.visits = 0

    def reached_by_kind(
        self, positions: Iterable[int], kinds_of_class: Mapping[frozenset[int], Iterable[Kind]]
    ) -> dict[Kind, set[int]]:
        """Return the positions that a character of each kind leads to, from any of these."""
        reached: dict[Kind, set[int]] = {}
        for position in positions:
            for codes, target in self.moves[position]:
                for kind in kinds_of_class[codes]:
                    reached.setdefault(kind, set()).add(target)
        return reached

    def build(self, node: Node, first: int, last: int) -> None:
        """Add paths from position ``first`` to ``last``: one for each word of a pattern."""
        if isinstance(node, Symbols):
            self.moves[first].append((node.codes, last))
        elif isinstance(node, Choice):
            for part in node.parts:
                self.build(part, first, last)
        elif isinstance(node, Chain):
            here = first
            for part in node.parts[:-1]:
                here = self._build_after(part, here)
            if node.parts:
                self.build(node.parts[-1], here, last)
            else:  # the empty word
                self.free[first].append(last)
        else:  # a repetition: as many copies of the part as are allowed
            here = first
            for n in range(node.largest):
                if n >= node.smallest:  # enough repetitions: the word may end here
                    self.free[here].append(last)
                here = self._build_after(node.part, here)
            self.free[here].append(last)

    def _build_after(self, node: Node, first: int) -> int:
        """Add the paths of a pattern from a position to a new one; return the new one."""
        if len(self.moves) >= MOST_POSITIONS:
            raise InputError(
                f"the patterns are too long: written out they have more than {MOST_POSITIONS:,} "
                "characters"
            )
        last = len(self.moves)
        self.moves.append([])
        self.free.append([])
        self.build(node, first, last)
        return last

    def closure(self, positions: Iterable[int]) -> frozenset[int]:
        """Return these positions and those that they lead to without a character.

        Only the end and positions at which a character is read are kept: others change nothing.
        """
        reached = set(positions)
        unexplored = list(reached)
        while unexplored:
            for position in self.free[unexplored.pop()]:
                if position not in reached:
                    reached.add(position)
                    unexplored.append(position)
        self.visits += len(reached)
        return frozenset(p for p in reached if self.moves[p] or p == END)


def _group_characters(classes: Iterable[frozenset[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the code points of each kind: those that are in the same ``classes``."""
    memberships: dict[int, list[int]] = {}  # the numbers of its classes, by code point
    for i, codes in enumerate(sorted(classes, key=sorted)):
        for code in codes:
            memberships.setdefault(code, []).append(i)
    kinds: dict[tuple[int, ...], list[int]] = {}  # by the classes that they are in
    for code in sorted(memberships):
        kinds.setdefault(tuple(memberships[code]), []).append(code)
    return tuple(tuple(codes) for codes in kinds.values())
