"""What can be asked of the SQL of an attack: what can be asked of the adversary."""

from qifsql.adversary.options import Joining, Knowledge, Person, Worth


class SqlOptions(Knowledge, Joining, Worth, Person, total=False):
    """The adversary of the attack; nothing that is told next to success."""
