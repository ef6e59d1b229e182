"""The words of a pattern as an automaton: each word is one path.

So words are counted without writing them out, and each word is written once. The automaton is
deterministic even if patterns overlap: the same characters always lead to one state. It has no
cycles, because a pattern has finitely many words. The work of Python grows with the patterns, not
with their words. SQL writes the words by going from state to state. So it needs the states, which
no package of the core provides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qifsql.commands.unhash.patterns import Chain, Choice, Node, Repeat, Symbols
from qifsql.errors import InputError

PLACES = 20_000  # most characters in the patterns, written out
MOVES = 50_000  # most moves between states
EFFORT = 20_000_000  # most places visited to find all states

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
        """Return the number of words that lead from each state to an end."""
        counts: dict[State, int] = {}
        waiting = [0]
        while waiting:
            state = waiting[-1]
            missing = [s for s in self.moves[state].values() if s not in counts]
            waiting += missing
            if not missing:
                waiting.pop()
                ways = ((len(self.kinds[k]), s) for k, s in self.moves[state].items())
                counts[state] = (state in self.finals) + sum(n * counts[s] for n, s in ways)
        return counts

    def cut(self, rows: int) -> int:
        """Return the number of characters after which to cut words, so that both parts are few.

        There are at least ``rows`` first parts, if there are that many words at all.
        """
        words, ended, depth = self.words_from(), 0, 0
        level: dict[State, int] = {0: 1}  # number of beginnings that lead to each state
        costs: dict[int, int] = {}
        while level:
            firsts = ended + sum(level.values())
            if firsts >= rows:
                costs[depth] = firsts + sum(words[s] for s in level)
            ended += sum(n for s, n in level.items() if s in self.finals)
            level = self._after(level)
            depth += 1
        return min(costs, key=costs.__getitem__) if costs else depth - 1

    def _after(self, level: Mapping[State, int]) -> dict[State, int]:
        after: dict[State, int] = {}
        for state, n in level.items():
            for kind, to in self.moves[state].items():
                after[to] = after.get(to, 0) + n * len(self.kinds[kind])
        return after


def build_automaton(node: Node) -> Automaton:
    """Return the automaton of a pattern; InputError if it would be too large."""
    places = _Places()
    places.build(node, 0, 1)
    kinds = _group_characters({codes for edges in places.edges for codes, _ in edges})
    of_class = {
        codes: [k for k, kind in enumerate(kinds) if kind[0] in codes]
        for codes in {codes for edges in places.edges for codes, _ in edges}
    }
    start = places.closed({0})
    states: dict[frozenset[int], State] = {start: 0}
    moves: dict[State, dict[Kind, State]] = {}
    waiting, count = [start], 0
    while waiting:
        here = waiting.pop()
        targets: dict[Kind, set[int]] = {}
        for place in here:
            for codes, to in places.edges[place]:
                for kind in of_class[codes]:
                    targets.setdefault(kind, set()).add(to)
        moves[states[here]] = {}
        for kind, reached in targets.items():
            after = places.closed(reached)
            if after not in states:
                states[after] = len(states)
                waiting.append(after)
            moves[states[here]][kind] = states[after]
            count += 1
        if count > MOVES or places.looked_at > EFFORT:
            raise InputError(
                "the patterns overlap in too many ways to make each word once; give fewer at a "
                "time, or make their parts differ earlier"
            )
    return Automaton(kinds, moves, frozenset(n for s, n in states.items() if 1 in s))


class _Places:
    """Places between the characters of patterns; ``edges`` read a character, ``free`` do not."""

    def __init__(self) -> None:
        self.edges: list[list[tuple[frozenset[int], int]]] = [[], []]
        self.free: list[list[int]] = [[], []]
        self.looked_at = 0

    def build(self, node: Node, first: int, last: int) -> None:
        """Add paths from one place to another for the words of a pattern."""
        if isinstance(node, Symbols):
            self.edges[first].append((node.codes, last))
        elif isinstance(node, Choice):
            for part in node.parts:
                self.build(part, first, last)
        elif isinstance(node, Chain):
            here = first
            for part in node.parts[:-1]:
                after = self._new()
                self.build(part, here, after)
                here = after
            if node.parts:
                self.build(node.parts[-1], here, last)
            else:
                self.free[first].append(last)
        else:
            self._repeat(node, first, last)

    def _repeat(self, node: Repeat, first: int, last: int) -> None:
        here = first
        for n in range(node.largest):
            if n >= node.smallest:
                self.free[here].append(last)
            after = self._new()
            self.build(node.part, here, after)
            here = after
        self.free[here].append(last)

    def closed(self, places: Iterable[int]) -> frozenset[int]:
        """Return the places reached from these without a character, including these.

        Only the places where a character is read, and the end, are returned.
        """
        closure = set(places)
        waiting = list(closure)
        while waiting:
            for place in self.free[waiting.pop()]:
                if place not in closure:
                    closure.add(place)
                    waiting.append(place)
        self.looked_at += len(closure)
        return frozenset(p for p in closure if self.edges[p] or p == 1)

    def _new(self) -> int:
        if len(self.edges) >= PLACES:
            raise InputError(
                f"the patterns are too long: written out they have more than {PLACES:,} characters"
            )
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1


def _group_characters(classes: Iterable[frozenset[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the characters of all classes, grouped by the classes that contain them."""
    inside: dict[int, list[int]] = {}
    for i, codes in enumerate(sorted(classes, key=sorted)):
        for code in codes:
            inside.setdefault(code, []).append(i)
    kinds: dict[tuple[int, ...], list[int]] = {}
    for code in sorted(inside):
        kinds.setdefault(tuple(inside[code]), []).append(code)
    return tuple(tuple(codes) for codes in kinds.values())
