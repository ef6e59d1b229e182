"""Options of ``inspect``."""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from qifsql.adversary.options import Joining, Knowledge, Sets, Target, Worth
from qifsql.adversary.spec import KnownRecords
from qifsql.data.option import DATA, DETAILS, DRAWN, TEXT, Option, one_of

TEST = "Test"
Way = Literal["chance", "risk"]
"""A draw of people: each as likely as another, or those at greatest risk first."""
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
    draw: Annotated[
        int | None,
        Option(
            DRAWN,
            "Draw N people; write sheets for testers to a folder (-o).",
            text="Draw so many people for a motivated intruder test, and write its files to the "
            "folder out: sheets of what is known of them, claims to fill in, and the key.",
            panel=TEST,
            least=1,
        ),
    ]
    by: Annotated[
        Way,
        Option(
            one_of(*get_args(Way)),
            "draw: by chance (default), or those at greatest risk.",
            text='Draw "chance" (each person as likely as another) or "risk": those of whom a '
            "guess is right with the greatest chance.",
            panel=TEST,
        ),
    ]
