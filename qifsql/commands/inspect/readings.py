"""Notes on the records of a person that an adversary knows, for readers of what is shown."""

from qifsql.adversary.spec import Microdata

NOTES = {
    "all": "blocks are of people: the adversary knows all records of a person, and each value is "
    "the list of those of her records",
    "one": "blocks are of people: the adversary knows one record of a person, who is in the block "
    "of each record of hers; her secret is the list of the values of all",
}


def notes_on_reading(microdata: Microdata) -> tuple[str, ...]:
    """Return a note on what is known, if people have several records."""
    return () if microdata.person is None else (NOTES[microdata.known_records],)


def of_spark(person: str | None) -> str:
    """Return the name of the command, if it also runs on Spark: not of several records."""
    return "inspect" if person is None else ""
