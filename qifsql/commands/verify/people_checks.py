"""People with several records, counted from their records by the definitions of the reference."""

from typing import Any

from qifsql.commands.verify import second_engine
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition
from qifsql.commands.verify.stored_request import Request
from qifsql.engine.settings import Settings
from qifsql.reference import people_with_records
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

WAY = "definition"


def repeat(stored: Stored, request: Request, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of a stored attack on people of whom all records are known, or one."""
    if reason := second_engine.obstacle(stored, request):
        return Repetition(WAY, reason=reason)
    answer = second_engine.read_people(request, stored.name, inputs, settings, step="records")
    if answer is None:
        return Repetition(WAY, reason=f"more than {second_engine.MOST:,} records")
    qids, secrets = list(stored.spec["qids"]), list(stored.spec["secrets"])
    columns = {name: f"qid {name}" for name in qids} | {name: f"secret {name}" for name in secrets}
    names = [*columns.values(), "person"]
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=False)) for row in answer.rows]
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row.get("gain") not in (None, "identity"):
            continue
        again = people_with_records.attack(
            rows,
            "person",
            [columns[name] for name in qids],
            None if row["secret"] is None else columns[row["secret"]],
            known_records=row["known_records"],
        )
        numbers |= {(RESULTS, i, name): n for name, n in again.items() if name in row}
    return Repetition(WAY, numbers)
