"""Options of ``sql``: those of the adversary."""

from qifsql.adversary.options import Joining, Knowledge, Person, Worth


class SqlOptions(Knowledge, Joining, Worth, Person, total=False):
    """The adversary of the attack; nothing that is told next to success."""
