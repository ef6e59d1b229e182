"""Options of ``wp29``."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from qifsql.adversary.options import Null, RegisterWhere, Truth, qids_option, secret_option
from qifsql.data.dataset import Tabular
from qifsql.data.option import COUNTS, DATA, NUMBER, TEXT, WHOLE, Option


class Wp29Options(TypedDict, total=False):
    """Options of ``wp29``: the adversary, and the register or key for links.

    ``qids`` and each ``secret`` are those of ``attack``; with a register ``qids`` are those of
    ``link`` (``1:zip,2:plz`` if names differ). ``register`` is a register of names or another
    release, with ``truth`` and ``register_where`` as in ``link``. ``key`` is the pseudonym of a log
    with several records per person; ``points`` and ``draws`` are those of ``unicity``. A missing
    value is a value (``null``: ``drop`` leaves the record out), but links nobody. Without a
    ``threshold`` the answer is about certain success; with one, in (0, 1], it is yes if somebody's
    chance is at least the threshold.
    """

    qids: Annotated[
        str | Sequence[str],
        qids_option('Quasi-identifiers; with a register as in link: "1:zip,2:plz".'),
    ]
    secret: Annotated[
        str | Sequence[str],
        secret_option("Inference: the secrets, columns or NAME=EXPRESSION."),
    ]
    threshold: Annotated[
        float | str | None,
        Option(
            form=NUMBER,
            help="Answer yes or no: yes if anybody's risk >= this, such as 0.2.",
        ),
    ]
    null: Null
    register: Annotated[
        Tabular | None,
        Option(
            form=TEXT,
            help="Linkability: a register of names or another release, as in link.",
            panel=DATA,
        ),
    ]
    register_where: RegisterWhere
    truth: Truth
    key: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="Linkability: the pseudonym of a log, as in unicity.",
            panel=DATA,
        ),
    ]
    points: Annotated[
        int | Sequence[int] | None,
        Option(
            form=COUNTS,
            help="With --key: numbers of known records (default: 1,2,3,4).",
        ),
    ]
    draws: Annotated[int | None, Option(form=WHOLE, typed=False)]
