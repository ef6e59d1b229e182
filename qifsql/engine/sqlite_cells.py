"""The people of an attack counted by SQLite, a second engine that every Python has."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing

from qifsql.errors import EngineError
from qifsql.query.render import render
from qifsql.query.templates import load

Person = tuple[str, str, int]
"""The block of a person, the value of the secret, and the weight."""
Cell = tuple[str, str, int, int]
"""Block, value of the secret; people, their weight."""


def cells(people: Iterable[Person]) -> list[Cell]:
    """Return one row per block, value of the secret.

    Raises EngineError if the weights of a cell do not fit into 63 bits.
    """
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE TABLE individuals (block TEXT, value TEXT, weight INTEGER)")
            connection.executemany("INSERT INTO individuals VALUES (?, ?, ?)", people)
            rows = connection.execute(render(load("verify/cells").query)).fetchall()
    except (sqlite3.Error, OverflowError) as e:
        raise EngineError("SQLite cannot count these people", detail=str(e)) from e
    return [(str(block), *rest) for block, *rest in rows]
