"""Options of ``anonymise``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypedDict, get_args

from qifsql.adversary.options import HIERARCHY, Where, qids_option, secret_option
from qifsql.counting.release_limits import Number
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
    one_of,
)

Shape = Literal["text", "interval", "bounds", "midpoint", "centroid"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
LOSSES = ("penalty", "classes", "discernibility", "entropy", "generalisation")


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
            "mondrian (cuts at medians, of texts along --hierarchy), mdav (microaggregation), "
            "recode (the changes of --change), lattice (best full-domain generalisation), suppress "
            "(the fewest cells) or pram (post-randomisation); default: recode with --change and no "
            "limit, lattice with --change or --hierarchy, else mondrian.",
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
        _limit(TEXT, "Recursive (c, l)-diversity, written C,L: r_1 < C (r_L + ... + r_m)."),
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
            "its own. The column of a household makes households the unit.",
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
