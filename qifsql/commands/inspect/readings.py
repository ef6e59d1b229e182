"""Notes on the records of a person that an adversary knows, for readers of what is shown."""

from qifsql.adversary.spec import Microdata
from qifsql.counting.session import note_left_out
from qifsql.engine.protocol import Engine

NOTES = {
    "all": "blocks are of people: the adversary knows all records of a person, and each value is "
    "the list of those of her records",
    "one": "blocks are of people: the adversary knows one record of a person, who is in the block "
    "of each record of hers; her secret is the list of the values of all",
}


def notes_on_people(engine: Engine, microdata: Microdata) -> tuple[str, ...]:
    """Return notes on the data, on people left out, and on what is known of several records."""
    reading = () if microdata.person is None else (NOTES[microdata.known_records],)
    return (*microdata.notes, *note_left_out(engine, microdata), *reading)


def of_spark(person: str | None) -> str:
    """Return the name of the command, if it also runs on Spark: not of several records."""
    return "inspect" if person is None else ""
