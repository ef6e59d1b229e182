"""Options of ``sql``: those of the adversary."""

from qifsql.adversary.options import Joining, Knowledge, Options, Person, Sets, Worth


class SqlOptions(Knowledge, Joining, Sets, Worth, Person, total=False):
    """Options of the adversary of the attack, without further measures of its success."""


class AdversaryOptions(Options, Sets, total=False):
    """Options of the function: those of the adversary, and details that change no statement."""
