"""Options of ``link``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import RegisterWhere, Truth, qids_option


class LinkOptions(TypedDict, total=False):
    """By what two files are linked.

    ``qids`` are columns, named expressions or coarser forms (``zip:3``) that both have; where names
    differ, ``1:zip,2:plz``. Records that miss one match nobody. ``truth`` is the key that says who
    is who, one name for both files or one for each; it must be unique in each. ``register_where``
    leaves out other records of the register.
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
