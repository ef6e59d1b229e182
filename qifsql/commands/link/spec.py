"""Options of ``link``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import RegisterWhere, Truth, Where, qids_option


class LinkOptions(TypedDict, total=False):
    """Options of ``link``: the columns by which two files are linked, and the true key.

    ``qids`` are columns, named expressions or coarser forms (``zip:3``) of both files; if their
    names differ, ``1:zip,2:plz``. A record with a missing value in one of them matches nobody.
    ``truth`` is the true key of people, one name for both files or one for each; it must be unique
    in each file. ``register_where`` selects the records of the register.
    """

    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option(
                'Shared columns: a,b; zip:3; NAME=EXPRESSION; "1:zip,2:plz" if names differ.'
            ),
        ]
    ]
    truth: Truth
    register_where: RegisterWhere
    where: Where
