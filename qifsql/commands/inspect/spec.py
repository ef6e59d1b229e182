"""Options of ``inspect``."""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from qifsql.adversary.options import Joining, Knowledge, Sets, Target, Worth
from qifsql.adversary.spec import KnownRecords
from qifsql.data.option import DATA, DETAILS, TEXT, Option, one_of

Object = Literal["hyper", "prior", "joint", "channel", "cooccurrence"]
"""An object of information flow."""
Show = Literal["blocks", "records", "receipt"] | Object
OBJECTS = get_args(Object)
SHOWS = ("blocks", *OBJECTS, "records", "receipt")


class InspectOptions(Knowledge, Joining, Sets, Worth, Target, total=False):
    """Options of ``inspect``: what is shown, the adversary, and the person of a receipt."""

    show: Annotated[
        Show,
        Option(
            one_of(*SHOWS),
            "blocks (default), hyper, prior, joint, channel, cooccurrence, records (one row each, "
            "to a file) or receipt (the fewest facts that single out --target).",
        ),
    ]
    known_records: Annotated[
        KnownRecords,
        Option(
            one_of(*get_args(KnownRecords)),
            "With --person: all (default) or one record of each is known.",
            text="With person, blocks: all records of each person are known (default), or one. "
            "Objects are about all, records about one.",
            panel=DATA,
        ),
    ]
    measures: Annotated[
        str | Sequence[str],
        Option(
            TEXT,
            "records: also shannon, guessing, or all.",
            text="records: shannon and guessing (or all) add entropy (bits) and guesses of the "
            "owner and of each secret.",
            panel=DETAILS,
        ),
    ]
