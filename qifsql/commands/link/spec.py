"""Options of ``link``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import RegisterWhere, Truth, Where, qids_option


class LinkOptions(TypedDict, total=False):
    """Options of ``link``: the columns by which two files are linked, and the true key."""

    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option(
                'Shared columns: a,b; zip:3; NAME=EXPRESSION; "1:zip,2:plz" if names differ.',
                text='Shared columns; "1:zip,2:plz" where the names differ. Missing values '
                "match nobody.",
            ),
        ]
    ]
    truth: Truth
    register_where: RegisterWhere
    where: Where
