"""Options of ``receipt``."""

from typing import Annotated

from qifsql.adversary.options import Knowledge, Target
from qifsql.data.option import TEXT, Option


class ReceiptOptions(Knowledge, Target, total=False):
    """Options: the known values of one person, and the key of the records."""

    key: Annotated[
        str | None, Option(form=TEXT, help="Person key: the column that identifies a person.")
    ]
