"""Options of ``anonymise``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, TypedDict, get_args

from qifsql.adversary.changes import HOW
from qifsql.adversary.options import HIERARCHY, Where, qids_option, secret_option
from qifsql.counting.release_limits import ClassLimits, Number, fraction
from qifsql.data.files import path_text
from qifsql.data.option import (
    CHANCE,
    DATA,
    DETAILS,
    NAME,
    NAMES,
    NUMBER,
    SECONDS,
    SUPPRESSED,
    TEXT,
    TEXTS,
    WHOLE,
    Form,
    Option,
    as_names,
    as_tuple,
    is_given,
    one_of,
)
from qifsql.errors import InputError, did_you_mean, plural, quoted

LIMITS = ("k", "k_for", "l", "l_entropy", "l_recursive", "t", "t_ordered", "until")
METHODS = ("mondrian", "mdav", "recode", "lattice", "suppress", "pram")
Shape = Literal["text", "interval", "bounds", "midpoint", "centroid"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
LOSSES = ("penalty", "classes", "discernibility", "entropy", "generalisation")
BUDGET = 60.0  # seconds of a search, unless more are asked for


def _limit(form: Form, text: str) -> Option:
    return Option(form, text, panel="Limits that every class keeps")


class AnonymiseOptions(TypedDict, total=False):
    """The limits of every class, and the form of the release.

    All limits but ``k`` are about the ``secret`` (``qifsql.counting.release_limits``).
    """

    method: Annotated[
        str | None,
        Option(
            TEXT,
            "mondrian (median cuts), mdav (microaggregation), recode (the changes of --change), "
            "lattice (best full-domain generalisation), suppress (the fewest cells) or pram "
            "(post-randomisation); default: recode with --change and no limit, lattice with "
            "--change or --hierarchy, else mondrian.",
        ),
    ]
    one_per: Annotated[
        str | None,
        Option(
            TEXT,
            "Instead: write one random record per person (--seed, default 0); KEY identifies a "
            "person.",
            text="Instead of a method: the column that identifies a person, of whose records a "
            "random one stays. A record without a key (missing or NaN) counts as a person of its "
            "own.",
        ),
    ]
    change: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "recode, suppress: change to make: age:5, age:18/65, pay:q4, born:10y, "
            "born:age@2024-12-31, date:month, zip:3, age:@2 (hierarchy level), top(age)=80, "
            "bottom(age)=18, drop=zip, age=EXPRESSION. lattice: a step. Repeatable.",
            text="recode, suppress: changes, as in compare: age:5, age:18/65 (limits), pay:q4 "
            "(quartiles), born:10y, born:age@2024-12-31, date:month, zip:3, age:@2, top(age)=80, "
            "bottom(age)=18, drop=zip, age=EXPRESSION. lattice: the steps of a quasi-identifier, "
            "finest first, in place of its hierarchy.",
            flags=("--change", "-c"),
        ),
    ]
    hierarchies: Annotated[Mapping[str, str | Path] | None, HIERARCHY]
    matrix: Annotated[
        str | Path | Sequence[str | Path],
        Option(
            TEXTS,
            "pram: file of transition matrices (column, from, to, probability), or COLUMN=FILE. "
            "Repeatable.",
            text="pram: files of transition matrices with the columns column, from, to and "
            "probability, or COLUMN=FILE of one without the first. A value without a line stays. "
            "Columns of qids and secret without a matrix get an invariant one.",
        ),
    ]
    pd: Annotated[
        Number | None,
        Option(
            CHANCE,
            "pram: chance that a value stays in the first stage of an invariant matrix (default "
            "0.8).",
            text="pram: chance, in [0, 1], that a value stays in the first stage of an invariant "
            "matrix, as the least one in sdcMicro; every other value is as likely. Default 0.8.",
            panel=DETAILS,
        ),
    ]
    alpha: Annotated[
        Number | None,
        Option(
            CHANCE,
            "pram: amount of randomisation of an invariant matrix: 0 none, 1 both stages (default "
            "0.5).",
            text="pram: amount of randomisation of an invariant matrix, in [0, 1]: with 1 - alpha "
            "a cell is not drawn at all. Default 0.5.",
            panel=DETAILS,
        ),
    ]
    minimise: Annotated[
        str,
        Option(
            one_of(*LOSSES),
            "lattice: loss to minimise: penalty (default: certainty penalty), classes (as many as "
            "possible), discernibility, entropy (non-uniform), or generalisation (penalty without "
            "what suppressed records lose).",
        ),
    ]
    until: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "lattice: bound that the release must keep: crs<=0.1, cas(SECRET)<=0.8, "
            "crs.singled_out<=5, k>=5. Repeatable.",
            text="lattice: bounds on the risk of the release as it is written, with one class of "
            "all suppressed records: crs<=0.1, cas(SECRET)<=0.8, crs.singled_out<=5, k>=5.",
        ),
    ]
    time_budget: Annotated[
        float | None,
        Option(
            SECONDS,
            "lattice, suppress: end the search after this time (90s, 10m, 2h; default 60s) with "
            "the best release so far.",
            text="lattice, suppress: seconds after which the search ends with the best release so "
            "far (default 60).",
            panel=DETAILS,
        ),
    ]
    k: Annotated[int | None, _limit(WHOLE, "k-anonymity: records per class >= K.")]
    subsets: Annotated[
        int | None,
        _limit(
            WHOLE,
            "recode, lattice: k for every M quasi-identifiers (and so for fewer), instead of for "
            "all of them together.",
        ),
    ]
    k_for: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "recode, lattice: k for these quasi-identifiers together: age,sex=5. Repeatable.",
            text="recode, lattice: k for named quasi-identifiers together, besides k: age,sex=5. "
            "With subsets and k_for, a record is suppressed if too few records that stay have its "
            "cells in one of the combinations; the most records that can stay do.",
            panel="Limits that every class keeps",
        ),
    ]
    l: Annotated[  # noqa: E741 - it is called l
        int | None,
        _limit(WHOLE, "Distinct l-diversity: distinct values of each secret per class >= L."),
    ]
    l_entropy: Annotated[
        Number | None,
        _limit(NUMBER, "Entropy l-diversity: exp(entropy) of each secret per class >= L."),
    ]
    l_recursive: Annotated[
        str | Sequence[Number] | None,
        _limit(
            TEXT,
            "Recursive (c, l)-diversity, written C,L: r_1 < C (r_L + ... + r_m).",
        ),
    ]
    t: Annotated[
        Number | None,
        _limit(NUMBER, "t-closeness in [0, 1]: distance of each secret from the release <= T."),
    ]
    t_ordered: Annotated[
        Number | None,
        _limit(NUMBER, "t-closeness with the ordered distance (numbers, dates, times)."),
    ]
    cells: Annotated[
        str,
        Option(
            one_of(*SHAPES),
            "text (intervals and sets that cover the class: 20-29, 1980s, {a,b}), interval "
            "(Parquet: structures and lists), bounds (columns NAME_lower, NAME_upper), midpoint or "
            "centroid (mean, median).",
            text='"text" (intervals and sets that contain the values of all members of a '
            "class; of recode and lattice, of all records with that cell: 20-29, 1980s, {a,b}), "
            '"interval" (in Parquet, the same as structures and lists), "bounds" (the ends of an '
            'interval in two columns, NAME_lower and NAME_upper), "midpoint" or "centroid" (mean '
            "of numbers, median of all else).",
            panel=DETAILS,
        ),
    ]
    drop: Annotated[
        str | Sequence[str],
        Option(
            NAMES,
            "Columns to leave out.",
            text="Columns to leave out, besides those that a named expression of qids replaces.",
            panel=DETAILS,
        ),
    ]
    keep: Annotated[
        str | Sequence[str],
        Option(
            NAMES,
            "Identifiers to release; others are left out.",
            text="Columns that identify people and stay in the release: others that describe takes "
            "for names, addresses or numbers of people are left out.",
            panel=DETAILS,
        ),
    ]
    suppress: Annotated[
        bool | Number,
        Option(
            SUPPRESSED,
            "Suppress (*) records of classes that break a limit: at most this share, such as 0.04 "
            "(without a value: any). Not for mondrian, whose classes keep all limits.",
            text="Largest share of the records, in [0, 1], that may be suppressed (* for every "
            "quasi-identifier) because their class breaks a limit; True: any. Not for mondrian, "
            "whose classes keep all limits.",
            panel=DETAILS,
        ),
    ]
    suppress_cells: Annotated[
        str | Sequence[str],
        Option(
            NAMES,
            "recode: before whole records, suppress cells of these quasi-identifiers, the least "
            "important first, in classes that break a limit.",
            text="recode: quasi-identifiers whose cells are suppressed, the least important first, "
            "until the class keeps the limits, before the whole record is.",
            panel=DETAILS,
        ),
    ]
    within: Annotated[
        int,
        Option(
            WHOLE,
            "mdav: largest number of distinct people at once; larger sets are cut "
            "first (0: 1,000).",
            panel=DETAILS,
            usual=0,
        ),
    ]
    qids: Annotated[
        str | Sequence[str],
        qids_option(
            "Quasi-identifiers to generalise; with --one-per: compare the risk before and after.",
            text="Quasi-identifiers to generalise. With one_per: those that the adversary knows, "
            "to compare the risk before and after (CRS, and CAS with a secret).",
        ),
    ]
    secret: Annotated[
        str | Sequence[str],
        secret_option(
            "Secrets for l and t.",
            text="Secrets for l and t. With one_per and qids: the secrets to infer.",
        ),
    ]
    person: Annotated[
        str | None,
        Option(
            NAME,
            "Whose record it is: limits are about different people in a class.",
            text="Column or named expression that says whose record it is: k counts different "
            "people in a class, l and t the people who have a value; a missing person is one of "
            "its own.",
            panel=DATA,
        ),
    ]
    strata: Annotated[
        str | None,
        Option(
            NAME,
            "Column that no class mixes: limits hold in each of its groups. It stays as it is, in "
            "suppressed records, too.",
            text="Column or named expression whose values no class mixes, as if everybody knew "
            "them: all limits hold within each group (t: against the whole release). The column "
            "stays as it is, in suppressed records, too, which may then be anybody's of the group.",
            panel=DATA,
        ),
    ]
    where: Where


@dataclass(frozen=True)
class Request:
    """A complete request for a release: method, limits, changes, cells and columns.

    ``suppress`` is the share of the records that may be suppressed.
    """

    method: str
    limits: ClassLimits
    cells: Shape
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    suppress: Fraction = Fraction(0)
    within: int = 0
    changes: tuple[str, ...] = ()
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    minimise: str = "penalty"
    time_budget: float = BUDGET
    until: tuple[str, ...] = ()
    suppress_cells: tuple[str, ...] = ()
    subsets: int | None = None
    k_for: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: AnonymiseOptions) -> "Request":
        """Return the request of complete options; InputError if they do not go together."""
        of_combinations = options["subsets"] is not None or options["k_for"]
        searched = options["hierarchies"] or options["change"] or of_combinations
        values: Mapping[str, object] = {**options}
        is_limited = any(values[name] not in (None, ()) for name in LIMITS)
        usual = "recode" if options["change"] and not is_limited else "lattice"
        method = options["method"] or (usual if searched else "mondrian")
        cells = options["cells"]
        if method not in METHODS:
            hint = did_you_mean(method, METHODS)
            raise InputError(f"there is no method {quoted(method)}{hint}")
        shape = next((s for s in SHAPES if s == cells), None)
        if shape is None:
            names = f"{', '.join(SHAPES[:-1])} or {SHAPES[-1]}"
            raise InputError(f"cells cannot be {quoted(cells)}; use {names}")
        if options["minimise"] not in LOSSES:
            hint = did_you_mean(options["minimise"], LOSSES)
            raise InputError(f"there is no loss {quoted(options['minimise'])} to minimise{hint}")
        _check_method(method, options)
        limits = ClassLimits.of(
            1 if options["k"] is None else options["k"],
            l=options["l"],
            l_entropy=options["l_entropy"],
            l_recursive=options["l_recursive"],
            t=options["t"],
            t_ordered=options["t_ordered"],
        )
        files = {name: path_text(path) for name, path in (options["hierarchies"] or {}).items()}
        request = cls(
            method,
            limits,
            shape,
            drop=as_names(options["drop"]),
            keep=as_names(options["keep"]),
            suppress=Fraction(1) if method == "suppress" else _check_share(options["suppress"]),
            within=options["within"],
            changes=as_tuple(options["change"]),
            hierarchies=files,
            minimise=options["minimise"],
            time_budget=options["time_budget"] or BUDGET,
            until=as_tuple(options["until"]),
            suppress_cells=as_names(options["suppress_cells"]),
            subsets=options["subsets"],
            k_for=as_tuple(options["k_for"]),
        )
        request.check(secret=bool(options["secret"]), k=options["k"] is not None)
        if request.until and options["strata"] is not None:
            raise InputError(
                "until measures an attack by the quasi-identifiers alone, and strata are known, "
                "too; name the column as a quasi-identifier instead, or leave one of them out"
            )
        if request.until and options["person"] is not None:
            raise InputError(
                "until measures an attack on records; where records are those of people (person), "
                "name limits on different people, such as --k 5, or leave one of them out"
            )
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

    def check(self, *, secret: bool, k: bool) -> None:
        """Refuse options that contradict each other; ``k`` and ``secret``: whether one is named."""
        limited = k or bool(self.k_for) or self.limits.of_secret
        if self.limits.of_secret and not secret:
            raise InputError("l and t are about a secret; name one with --secret")
        self._check_combinations(k=k)
        if self.method in ("mondrian", "mdav", "suppress") and not k:
            raise InputError(f"{self.method} needs the size of classes; name it with --k")
        if self.method == "lattice" and not limited and not self.until:
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
        if self.suppress and not limited:
            raise InputError(
                "no limit says which records to suppress; name one, such as --k 5, or leave "
                "suppress out"
            )
        if self.suppress_cells and not limited:
            raise InputError(
                "no limit says which cells to suppress; name one, such as --k 5, or leave "
                "suppress_cells out"
            )

    def _check_combinations(self, *, k: bool) -> None:
        """Refuse ``subsets`` without k, and combinations where classes are made of all columns."""
        if self.subsets is not None and (isinstance(self.subsets, bool) or self.subsets < 1):
            raise InputError("subsets is a number of quasi-identifiers from 1")
        if self.subsets is not None and not k:
            raise InputError(
                "subsets says for how many quasi-identifiers k holds; name it with --k"
            )
        if not self.recoded and (self.subsets is not None or self.k_for):
            raise InputError(
                f"classes of {self.method} have k records for all quasi-identifiers together, and "
                "so for every combination of them: leave subsets and k_for out (the largest k as "
                "--k), or use --method lattice or recode, which may lose less"
            )

    def remarks(self, *, secret: bool) -> list[str]:
        """Return notes on options that have no effect."""
        if secret and not self.limits.of_secret and not self.until:
            return [
                "no limit is about the secret: classes are made by k alone (--l, --l-entropy, "
                "--l-recursive, --t, --t-ordered)"
            ]
        return []


def _check_method(method: str, options: AnonymiseOptions) -> None:
    """Refuse options of other methods, and a recoding of nothing."""
    of_pram = {"matrix": options["matrix"], "pd": options["pd"], "alpha": options["alpha"]}
    for option, value in of_pram.items():
        if is_given(value):
            raise InputError(f"{option} is for pram alone; name it with --method pram")
    if options["within"] and method != "mdav":
        raise InputError("within is for mdav alone; leave it out")
    if method in ("mondrian", "mdav"):
        for name in ("change", "hierarchies"):
            if options[name]:
                raise InputError(
                    f"{method} makes its own cells; for {name} use --method recode or lattice"
                )
    if method != "lattice":
        _check_not_searched(method, options)
    if method == "suppress":
        _check_suppression(options)
    if method != "recode" and options["suppress_cells"]:
        raise InputError("suppress_cells is for recode alone; leave it out")
    if method == "recode" and not options["change"] and not options["suppress_cells"]:
        raise InputError(
            f"recode makes the changes that are named; name one (--change {HOW}), or cells to "
            "suppress (--suppress-cells)"
        )


def _check_not_searched(method: str, options: AnonymiseOptions) -> None:
    """Refuse options of the search of a lattice."""
    if options["minimise"] != LOSSES[0]:
        raise InputError("minimise is for lattice alone; leave it out")
    if options["time_budget"] is not None and method != "suppress":
        raise InputError("time_budget is for lattice and suppress alone; leave it out")
    if options["until"]:
        raise InputError("until is for lattice alone; leave it out")


def _check_suppression(options: AnonymiseOptions) -> None:
    """Refuse what local suppression does not keep: limits beside k, groups of its own, a share."""
    values: Mapping[str, object] = {**options}
    of_records = "it keeps k records with equal cells; use --method recode --suppress-cells"
    for name in ("person", "strata", "subsets", "k_for"):
        if is_given(values[name]):
            raise InputError(f"suppress does not take {name}: {of_records}")
    if any(is_given(values[name]) for name in LIMITS if name not in ("k", "k_for", "until")):
        raise InputError(f"suppress keeps no limit on a secret: {of_records}")
    if options["suppress"]:
        raise InputError(
            "suppress hides as few cells as it can, and has no share of records; leave it out "
            "(--suppress)"
        )


def _check_share(value: bool | Number) -> Fraction:
    """Return the share of the records that may be suppressed."""
    if isinstance(value, bool):
        return Fraction(int(value))
    share = fraction(value, "suppress")
    if not 0 <= share <= 1:
        raise InputError("suppress is a share of the records from 0 to 1; give one such as 0.04")
    return share
