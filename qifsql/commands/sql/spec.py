"""Options of ``sql``: those of the adversary."""

from qifsql.adversary.options import Joining, Knowledge, Person, Worth


class SqlOptions(Knowledge, Joining, Worth, Person, total=False):
    """Options of the adversary of the attack, without further measures of its success."""
