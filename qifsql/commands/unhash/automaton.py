"""The words of a pattern as an automaton: each word is one path.

So words are counted without writing them out, and each word is written once. The automaton is
deterministic even if patterns overlap: the same characters always lead to one state. It has no
cycles, because a pattern has finitely many words. The work of Python grows with the patterns, not
with their words. SQL writes the words by going from state to state. So it needs the states, which
no package of the core provides.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qifsql.commands.unhash.patterns import Chain, Choice, Node, Repeat, Symbols
from qifsql.errors import InputError

PLACES = 20_000  # most characters in the patterns, written out
MOVES = 50_000  # most moves between states
EFFORT = 20_000_000  # most places visited to find all states
START, END = 0, 1  # places

Kind = int  # characters that no pattern distinguishes are of one kind
State = int


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

        It is the cut with the fewest rows of both that has ``min_prefixes`` prefixes or more. Words
        share the suffixes of a state, which are stored once. With too few words for that, it is
        the length of the longest word.
        """
        suffixes, ended, depth = self.words_from(), 0, 0  # ended: words shorter than ``depth``
        level: dict[State, int] = {0: 1}  # prefixes of ``depth`` characters, by their state
        rows: dict[int, int] = {}  # prefixes and suffixes, by depth
        while level:
            prefixes = ended + sum(level.values())
            if prefixes >= min_prefixes:
                rows[depth] = prefixes + sum(suffixes[state] for state in level)
            ended += sum(n for state, n in level.items() if state in self.finals)
            level = self._next_level(level)
            depth += 1
        return min(rows, key=rows.__getitem__) if rows else depth - 1

    def _next_level(self, level: Mapping[State, int]) -> dict[State, int]:
        """Return the number of prefixes by state, with one character more than in ``level``."""
        following: dict[State, int] = {}
        for state, prefixes in level.items():
            for kind, after in self.moves[state].items():
                following[after] = following.get(after, 0) + prefixes * len(self.kinds[kind])
        return following


def build_automaton(node: Node) -> Automaton:
    """Return the automaton of a pattern; InputError if it would be too large.

    A state is the set of places in which the same characters can end (subset construction).
    """
    places = _Places()
    places.build(node, START, END)
    classes = {codes for edges in places.edges for codes, _target in edges}
    kinds = _group_characters(classes)  # the code points of each kind
    kinds_of_class = {  # the kinds that make a class, by its code points
        codes: [k for k, kind in enumerate(kinds) if kind[0] in codes] for codes in classes
    }
    start = places.closed({START})
    states: dict[frozenset[int], State] = {start: 0}  # by the places that are a state
    moves: dict[State, dict[Kind, State]] = {}
    waiting, move_count = [start], 0  # states whose moves are not known yet
    while waiting:
        here = waiting.pop()
        moves[states[here]] = {}
        for kind, reached in places.reached(here, kinds_of_class).items():
            after = places.closed(reached)
            if after not in states:
                states[after] = len(states)
                waiting.append(after)
            moves[states[here]][kind] = states[after]
            move_count += 1
        if move_count > MOVES or places.looked_at > EFFORT:
            raise InputError(
                "the patterns overlap in too many ways to make each word once; give fewer at a "
                "time, or make their parts differ earlier"
            )
    finals = frozenset(state for reached, state in states.items() if END in reached)
    return Automaton(kinds, moves, finals)


class _Places:
    """Places between characters, from ``START`` to ``END``; ``edges`` read one, ``free`` do not."""

    def __init__(self) -> None:
        self.edges: list[list[tuple[frozenset[int], int]]] = [[], []]
        self.free: list[list[int]] = [[], []]
        self.looked_at = 0

    def reached(
        self, here: Iterable[int], kinds_of_class: Mapping[frozenset[int], Iterable[Kind]]
    ) -> dict[Kind, set[int]]:
        """Return the places that a character of each kind leads to, from some places."""
        targets: dict[Kind, set[int]] = {}
        for place in here:
            for codes, target in self.edges[place]:
                for kind in kinds_of_class[codes]:
                    targets.setdefault(kind, set()).add(target)
        return targets

    def build(self, node: Node, first: int, last: int) -> None:
        """Add paths from place ``first`` to place ``last``: one for each word of a pattern."""
        if isinstance(node, Symbols):
            self.edges[first].append((node.codes, last))
        elif isinstance(node, Choice):
            for part in node.parts:
                self.build(part, first, last)
        elif isinstance(node, Chain):
            self._build_chain(node.parts, first, last)
        else:
            self._repeat(node, first, last)

    def _build_chain(self, parts: Sequence[Node], first: int, last: int) -> None:
        """Add paths through parts that follow each other; without parts the word is empty."""
        if not parts:
            self.free[first].append(last)
            return
        here = first
        for part in parts[:-1]:
            after = self._new()
            self.build(part, here, after)
            here = after
        self.build(parts[-1], here, last)

    def _repeat(self, node: Repeat, first: int, last: int) -> None:
        """Add the paths of a part that is repeated, from place ``first`` to place ``last``."""
        here = first
        for n in range(node.largest):
            if n >= node.smallest:  # enough repetitions: the word may end here
                self.free[here].append(last)
            after = self._new()
            self.build(node.part, here, after)
            here = after
        self.free[here].append(last)

    def closed(self, places: Iterable[int]) -> frozenset[int]:
        """Return these places and those reached from them without a character, by ``free``.

        Only the end and places from which a character is read are kept: others change nothing.
        """
        closure = set(places)
        waiting = list(closure)
        while waiting:
            for place in self.free[waiting.pop()]:
                if place not in closure:
                    closure.add(place)
                    waiting.append(place)
        self.looked_at += len(closure)
        return frozenset(place for place in closure if self.edges[place] or place == END)

    def _new(self) -> int:
        """Add a place; return its number."""
        if len(self.edges) >= PLACES:
            raise InputError(
                f"the patterns are too long: written out they have more than {PLACES:,} characters"
            )
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1


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
