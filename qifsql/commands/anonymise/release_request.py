"""The request for a release: which options of ``anonymise`` go together, and what they mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from qifsql.adversary.changes import HOW
from qifsql.commands.anonymise.spec import LOSSES, SHAPES, AnonymiseOptions, Shape
from qifsql.counting.release_limits import ClassLimits, fraction
from qifsql.data.files import path_text
from qifsql.data.option import as_names, as_tuple, csv_row, declared, is_given
from qifsql.errors import ColumnError, InputError, did_you_mean, plural, quoted

METHODS = ("mondrian", "mdav", "recode", "lattice", "suppress", "pram")
OF_SECRETS = ("l", "l_entropy", "l_recursive", "t", "t_ordered")
LIMITS = ("k", "k_for", *OF_SECRETS, "until")
ONLY_FOR = {
    "within": ("mdav",),
    "minimise": ("lattice",),
    "time_budget": ("lattice", "suppress"),
    "until": ("lattice",),
    "suppress_cells": ("recode",),
}
"""The methods that take an option, by option."""
SEARCH_SECONDS = 60.0  # usual time budget of a search
MOST_COMBINATIONS = 10_000  # of quasi-identifiers, that have a k of their own


def named_options(options: AnonymiseOptions) -> set[str]:
    """Return the names of the options that have another value than the usual one."""
    usual = {name: option.default for name, option in declared(AnonymiseOptions).items()}
    return {name for name, value in options.items() if is_given(value) and value != usual[name]}


@dataclass(frozen=True)
class Request:
    """A complete request for a release: method, limits, changes, cells and columns.

    ``suppress`` is the share of the records that may be suppressed, ``time_budget`` is in seconds.
    """

    method: str
    limits: ClassLimits
    cells: Shape
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    suppress: Fraction
    within: int
    changes: tuple[str, ...]
    hierarchies: Mapping[str, str]
    minimise: str
    time_budget: float
    until: tuple[str, ...]
    suppress_cells: tuple[str, ...]
    subsets: int | None
    k_for: tuple[str, ...]

    @classmethod
    def of(cls, options: AnonymiseOptions) -> "Request":
        """Return the request of complete options; InputError if they do not go together."""
        named = named_options(options)
        method = options["method"] or _usual_method(named)
        if method not in METHODS:
            raise InputError(f"there is no method {quoted(method)}{did_you_mean(method, METHODS)}")
        shape = next((shape for shape in SHAPES if shape == options["cells"]), None)
        if shape is None:
            shapes = f"{', '.join(SHAPES[:-1])} or {SHAPES[-1]}"
            raise InputError(f"cells cannot be {quoted(options['cells'])}; use {shapes}")
        if options["minimise"] not in LOSSES:
            hint = did_you_mean(options["minimise"], LOSSES)
            raise InputError(f"there is no loss {quoted(options['minimise'])} to minimise{hint}")
        _check_method(method, named)
        limits = ClassLimits.of(
            1 if options["k"] is None else options["k"],
            l=options["l"],
            l_entropy=options["l_entropy"],
            l_recursive=options["l_recursive"],
            t=options["t"],
            t_ordered=options["t_ordered"],
        )
        seconds = options["time_budget"]
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and seconds > 0):
            raise InputError(
                f"time_budget is a number of seconds above 0, and {quoted(str(seconds))} is none"
            )
        request = cls(
            method,
            limits,
            shape,
            drop=as_names(options["drop"]),
            keep=as_names(options["keep"]),
            suppress=Fraction(1) if method == "suppress" else _read_share(options),
            within=options["within"],
            changes=as_tuple(options["change"]),
            hierarchies={
                name: path_text(path) for name, path in (options["hierarchies"] or {}).items()
            },
            minimise=options["minimise"],
            time_budget=seconds or SEARCH_SECONDS,
            until=as_tuple(options["until"]),
            suppress_cells=as_names(options["suppress_cells"]),
            subsets=options["subsets"],
            k_for=as_tuple(options["k_for"]),
        )
        request._check_limits(named)
        request._check_bounds_on_risk(named)
        return request

    @property
    def recoded(self) -> bool:
        """Return whether all records with the same value get the same cell."""
        return self.method in ("recode", "lattice", "suppress")

    @property
    def words_of_k(self) -> str:
        """Return the limits on k in words; empty if there is none."""
        k = f"k={self.limits.k}" if self.limits.k > 1 else ""
        if k and self.subsets is not None:
            k += f" for every {plural(self.subsets, 'quasi-identifier')}"
        named = [f"k={k} for {names}" for names, _, k in (t.rpartition("=") for t in self.k_for)]
        return " and ".join(filter(None, [k, *named]))

    def remarks(self, *, secret: bool) -> list[str]:
        """Return a note if a ``secret`` is named that has no effect: no limit is about it."""
        if secret and not self.limits.of_secret and not self.until:
            return [
                "no limit is about the secret: classes are made by k alone (--l, --l-entropy, "
                "--l-recursive, --t, --t-ordered)"
            ]
        return []

    def _check_limits(self, named: set[str]) -> None:
        """Refuse limits that are missing, or that the method does not keep."""
        if self.limits.of_secret and "secret" not in named:
            raise InputError("l and t are about a secret; name one with --secret")
        if self.subsets is not None and (isinstance(self.subsets, bool) or self.subsets < 1):
            raise InputError("subsets is a number of quasi-identifiers from 1")
        if self.subsets is not None and "k" not in named:
            raise InputError(
                "subsets says for how many quasi-identifiers k holds; name it with --k"
            )
        if not self.recoded and (self.subsets is not None or self.k_for):
            raise InputError(
                f"classes of {self.method} have k records for all quasi-identifiers together, and "
                "so for every combination of them: leave subsets and k_for out (the largest k as "
                "--k), or use --method lattice or recode, which may lose less"
            )
        if self.method in ("mondrian", "mdav", "suppress") and "k" not in named:
            raise InputError(f"{self.method} needs the size of classes; name it with --k")
        is_limited = bool({"k", "k_for"} & named) or self.limits.of_secret
        if self.method == "lattice" and not is_limited and not self.until:
            raise InputError(
                "lattice looks for the best release that keeps a limit; name --k, or --until"
            )
        if self.method == "mdav" and self.limits.of_secret and not self.suppress:
            raise InputError(
                "mdav makes classes by their size alone; to have the records of classes that "
                "break a limit on the secret replaced by *, add --suppress, or use mondrian"
            )
        if self.suppress and self.method == "mondrian":
            raise InputError("mondrian makes no classes to suppress; leave suppress out")
        if self.suppress and self.method == "mdav" and not self.limits.of_secret:
            raise InputError("mdav makes no classes below k; leave suppress out")
        if not is_limited and (self.suppress or self.suppress_cells):
            option, unit = ("suppress", "records") if self.suppress else ("suppress_cells", "cells")
            raise InputError(
                f"no limit says which {unit} to suppress; name one, such as --k 5, or leave "
                f"{option} out"
            )

    def _check_bounds_on_risk(self, named: set[str]) -> None:
        """Refuse bounds on the risk (``until``) together with strata or a column of people."""
        if self.until and "strata" in named:
            raise InputError(
                "until measures an attack by the quasi-identifiers alone, and strata are known, "
                "too; name the column as a quasi-identifier instead, or leave one of them out"
            )
        if self.until and "person" in named:
            raise InputError(
                "until measures an attack on records; where records are those of people (person), "
                "name limits on different people, such as --k 5, or leave one of them out"
            )


def _usual_method(named: set[str]) -> str:
    """Return the method where none is named; ``named`` are the options that are."""
    if "change" in named and not named & {*LIMITS}:
        return "recode"
    return "lattice" if named & {"hierarchies", "change", "subsets", "k_for"} else "mondrian"


def _check_method(method: str, named: set[str]) -> None:
    """Refuse options of other methods, and a recoding of nothing."""
    for option in ("matrix", "pd", "alpha"):
        if option in named:
            raise InputError(f"{option} is for pram alone; name it with --method pram")
    for option in ("change", "hierarchies"):
        makes_cells = method == "mdav" or (method == "mondrian" and option == "change")
        if makes_cells and option in named:
            raise InputError(
                f"{method} makes its own cells; for {option} use --method recode or lattice"
            )
    for option, methods in ONLY_FOR.items():
        if method not in methods and option in named:
            raise InputError(f"{option} is for {' and '.join(methods)} alone; leave it out")
    if method == "suppress":
        _check_local_suppression(named)
    if method == "recode" and not named & {"change", "suppress_cells"}:
        raise InputError(
            f"recode makes the changes that are named; name one (--change {HOW}), or cells to "
            "suppress (--suppress-cells)"
        )


def _check_local_suppression(named: set[str]) -> None:
    """Refuse limits that local suppression does not keep, and a share of records to suppress."""
    of_records = "it keeps k records with equal cells; use --method recode --suppress-cells"
    for option in ("person", "strata", "subsets", "k_for"):
        if option in named:
            raise InputError(f"suppress does not take {option}: {of_records}")
    if named & {*OF_SECRETS}:
        raise InputError(f"suppress keeps no limit on a secret: {of_records}")
    if "suppress" in named:
        raise InputError(
            "suppress hides as few cells as it can, and has no share of records; leave it out "
            "(--suppress)"
        )


def _read_share(options: AnonymiseOptions) -> Fraction:
    if isinstance(options["suppress"], bool):
        return Fraction(int(options["suppress"]))
    share = fraction(options["suppress"], "suppress")
    if not 0 <= share <= 1:
        raise InputError("suppress is a share of the records from 0 to 1; give one such as 0.04")
    return share


@dataclass(frozen=True)
class Combination:
    """Quasi-identifiers, by number, whose cells together have at least ``k`` records or people."""

    qids: tuple[int, ...]
    k: int

    def implies(self, narrower: "Combination") -> bool:
        """Return whether another combination keeps its k wherever this one does."""
        return self.k >= narrower.k and set(self.qids) > set(narrower.qids)


def required_combinations(request: Request, names: Sequence[str]) -> list[Combination]:
    """Return the combinations of quasi-identifiers that need a k, without those that others imply.

    ``subsets`` asks k of all combinations of a size, ``k_for`` of named ones. ``names`` are the
    quasi-identifiers. The list is empty if k is about all of them together alone, as usual.
    """
    width, k = len(names), request.limits.k
    size = min(request.subsets or width, width)
    if comb(width, size) > MOST_COMBINATIONS:
        raise InputError(
            f"{width} quasi-identifiers have {comb(width, size):,} combinations of {size}, and at "
            f"most {MOST_COMBINATIONS:,} are kept; name fewer, or single combinations (--k-for)"
        )
    of_size = dict.fromkeys(combinations(range(1, width + 1), size), k)
    named: dict[tuple[int, ...], int] = {}
    for text in request.k_for:
        qids, its_k = _read_named(text, names)
        named[qids] = max(its_k, named.get(qids, 1), of_size.get(qids, 1))
    limited = [Combination(qids, n) for qids, n in (of_size | named).items() if n > 1]
    of_named = [c for c in limited if c.qids in named]
    necessary = [
        c
        for c in limited
        # Combinations of one size never imply one another, so only named ones imply these.
        if not any(wider.implies(c) for wider in (limited if c.qids in named else of_named))
    ]
    is_usual = necessary in ([], [Combination(tuple(range(1, width + 1)), k)])
    return [] if is_usual else necessary


def _read_named(text: str, names: Sequence[str]) -> tuple[tuple[int, ...], int]:
    """Return the numbers of the quasi-identifiers and the k of a text such as ``age,sex=5``."""
    columns, _, k = text.rpartition("=")
    named = csv_row(columns)
    if not named or not k.strip().isdecimal() or not int(k):
        raise InputError(
            f"k_for cannot be {quoted(text)}; write quasi-identifiers and a whole number from 1, "
            "as in age,sex=5"
        )
    return tuple(sorted(numbers_of(named, names))), int(k)


def numbers_of(named: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the numbers from 1, among ``names``, of the quasi-identifiers that are named."""
    for name in named:
        if name not in names:
            raise ColumnError(
                f"{quoted(name)} is not a quasi-identifier{did_you_mean(name, names)}"
            )
    return [names.index(name) + 1 for name in dict.fromkeys(named)]
