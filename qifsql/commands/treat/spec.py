"""Options of ``treat``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary import options
from qifsql.data.option import DATA, TEXT, Option


class TreatOptions(TypedDict, total=False):
    """Options of ``treat``: the key, and the adversary of the comparison.

    ``key`` is the column that identifies a person; a record without a key (missing or NaN) counts
    as a separate person. ``qids`` and ``secret``: compare the success of an adversary who knows the
    quasi-identifiers, before and after (models CRS, and CAS with a secret).
    """

    key: Annotated[
        Required[str], Option(TEXT, "Person key: the column that identifies a person.", panel=DATA)
    ]
    qids: Annotated[
        str | Sequence[str],
        options.qids_option("Compare the risk before and after, for these quasi-identifiers."),
    ]
    secret: Annotated[
        str | Sequence[str],
        options.secret_option("With --qids: the secrets to infer."),
    ]
