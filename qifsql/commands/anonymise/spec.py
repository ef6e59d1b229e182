"""Options of ``anonymise``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Required, TypedDict, get_args

from qifsql.adversary import options
from qifsql.counting.constraints import Number, Wishes
from qifsql.data.option import (
    DETAILS,
    FLAG,
    NAMES,
    NUMBER,
    TEXT,
    WHOLE,
    Form,
    Option,
    as_names,
    one_of,
)
from qifsql.errors import InputError, did_you_mean, quoted

METHODS = ("mondrian", "mdav")
Shape = Literal["interval", "centroid"]
SHAPES: tuple[Shape, ...] = get_args(Shape)


def _limit(form: Form, text: str) -> Option:
    return Option(form, text, panel="Limits that every class keeps")


class AnonymiseOptions(TypedDict, total=False):
    """The limits of every class, and the form of the release.

    ``method``: ``mondrian`` (``qifsql.commands.anonymise.mondrian``) or ``mdav``, microaggregation
    (``qifsql.commands.anonymise.mdav``). ``k``, ``l`` and so on: see
    ``qifsql.counting.constraints``; all except ``k`` are about the ``secret``. ``cells``:
    ``interval`` writes intervals and sets that contain the values of all members of a class,
    ``centroid`` the mean of numbers and the median of other types. Other columns are unchanged.
    Columns to ``drop`` are left out, and so are columns that a named expression of ``qids`` reads,
    because the expression replaces them. ``suppress``: records in classes that break a limit on a
    secret get ``*`` for every quasi-identifier; only ``mdav``, which considers k alone, creates
    such classes. ``within``: the largest number of distinct people that ``mdav`` groups at once
    (0: 1,000).
    """

    method: Annotated[
        Required[str],
        _limit(TEXT, "mondrian (median cuts) or mdav (microaggregation)."),
    ]
    k: Annotated[Required[int], _limit(WHOLE, "k-anonymity: records per class >= K.")]
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
            "interval (intervals and sets that cover the class) or centroid (mean, median).",
            panel=DETAILS,
        ),
    ]
    drop: Annotated[str | Sequence[str], Option(NAMES, "Columns to leave out.", panel=DETAILS)]
    suppress: Annotated[
        bool,
        Option(
            FLAG, "mdav: suppress (*) the records of classes that violate l or t.", panel=DETAILS
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
        Required[str | Sequence[str]],
        options.qids_option("Quasi-identifiers to generalise."),
    ]
    secret: Annotated[
        str | Sequence[str],
        options.secret_option("Secrets for l and t."),
    ]


@dataclass(frozen=True)
class Request:
    """A complete request for a release: method, limits, cells and columns."""

    method: str
    wishes: Wishes
    cells: Shape
    drop: tuple[str, ...] = ()
    suppress: bool = False
    within: int = 0

    @classmethod
    def of(cls, options: AnonymiseOptions) -> "Request":
        """Return the request of complete options; refuse options that cannot be combined."""
        wishes = Wishes.of(
            options["k"],
            l=options["l"],
            l_entropy=options["l_entropy"],
            l_recursive=options["l_recursive"],
            t=options["t"],
            t_ordered=options["t_ordered"],
        )
        method, cells = options["method"], options["cells"]
        if method not in METHODS:
            hint = did_you_mean(method, METHODS)
            raise InputError(f"there is no method {quoted(method)}{hint}")
        shape = next((s for s in SHAPES if s == cells), None)
        if shape is None:
            raise InputError(f"cells cannot be {quoted(cells)}; use {' or '.join(SHAPES)}")
        drop, suppress = as_names(options["drop"]), options["suppress"]
        request = cls(method, wishes, shape, drop, suppress, options["within"])
        request.check(secret=bool(options["secret"]))
        return request

    def check(self, *, secret: bool) -> None:
        """Refuse options that cannot be combined."""
        if self.wishes.of_secret and not secret:
            raise InputError("l and t are about a secret; name one with --secret")
        if self.method == "mdav" and self.wishes.of_secret and not self.suppress:
            raise InputError(
                "mdav makes classes by their size alone; to have the records of classes that "
                "break a limit on the secret replaced by *, add --suppress, or use mondrian"
            )
        if self.suppress and (self.method != "mdav" or not self.wishes.of_secret):
            raise InputError(
                "only mdav makes classes to suppress, where a limit is about a secret; leave "
                "suppress out"
            )
        if self.within and self.method != "mdav":
            raise InputError("within is for mdav alone; leave it out")

    def remarks(self, *, secret: bool) -> list[str]:
        """Return notes on options that have no effect."""
        if secret and not self.wishes.of_secret:
            return [
                "no limit is about the secret: classes are made by k alone (--l, --l-entropy, "
                "--l-recursive, --t, --t-ordered)"
            ]
        return []
