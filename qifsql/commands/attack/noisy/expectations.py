"""A row per record: the expected success of an adversary with noisy knowledge.

What the best guess is worth is carried back from what is known to the true values, one
quasi-identifier after another. Source: M157.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from qifsql.commands.attack.noisy import elimination
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.elimination import States
from qifsql.errors import InputError
from qifsql.query.columns import key_shape, native_types, with_names
from qifsql.query.microdata_steps import everybody, plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice
from qifsql.results.storage import Origin, stream


def write(coded: Coded, path: Path, origin: Origin, notes: Sequence[str]) -> int:
    """Write one row per record to a file, in input order; return the number of rows.

    Columns: record (from 1), the key, exact_success and success (of re-identification) and per
    secret S exact_success_S and success_S: the chance of the best guess on the person with exact
    knowledge, and the expected one with noisy knowledge. These are computed once per combination of
    quasi-identifiers (table ``people_expected``), and joined to the records (``everybody``).
    """
    microdata = coded.bound.microdata
    for j in range(len(microdata.secrets) + 1):
        _make_expected(coded, j)
    qids = range(1, coded.width + 1)
    of_people: dict[str, Shape] = {"qids": qids, "places": coded.places}
    of_people |= {"secrets": len(microdata.secrets)}
    coded.tables.make("people_expected", splice("noisy/people_expected", shape=of_people))
    shape = {**key_shape(microdata.key, native_types(path)), "secrets": len(microdata.secrets)}
    query = splice("noisy/records_expected", width=coded.width, shape=shape)
    suffixes = ["", *(f"_{secret.name}" for secret in microdata.secrets)]
    names = {
        f"{name}_{j}": f"{name}{suffix}"
        for j, suffix in enumerate(suffixes)
        for name in ("exact_success", "success")
    }
    names |= {"key": microdata.key.name} if microdata.key else {}
    rows = plan(microdata, (everybody(microdata),), with_names(query, names))
    origin = replace(origin, notes=tuple(notes))
    return stream(coded.tables.engine, rows, path, origin, what="writing records")


def _make_expected(coded: Coded, secret: int) -> None:
    """Create the table ``expected_j``: a row per combination of quasi-identifiers, for a secret j.

    It has the chance of the best guess with exact knowledge, and the expected one with noisy
    knowledge. For the latter, true values are replaced by what may be known, one column at a time
    (``elimination``). The chance of the best guess by what is known (``worth``) is then averaged
    back to the true values.
    """
    tables = coded.tables
    states = elimination.eliminate(coded, secret, keep=True)  # ``known``, and a table per step
    if states is None:
        raise InputError(
            f"a row per person (records) would compare more than {elimination.MOST_PAIRS:,} pairs; "
            "let fewer quasi-identifiers have a law"
        )
    tables.make(f"worth_{len(coded.noisy)}", coded.query("final_worth", places=coded.places))
    tables.drop("known")
    _carry_back(coded, states)
    view = "exact_secret_chance" if secret else "exact_chance"
    tables.make("chance", coded.query(view, places=coded.places, tables={"state": "state_0"}))
    names = {"exacts": "chance", "worths": "worth_0"}
    tables.make(f"expected_{secret}", coded.query("expected", places=coded.places, tables=names))
    tables.drop("worth_0", "chance", *states.names)


def _carry_back(coded: Coded, states: States) -> None:
    """Create the table ``worth_0``: the expected chance of the best guess by true values.

    ``worth_i`` has it after i quasi-identifiers have given way to what may be known of them. From
    the last of them to the first, each true value gets the mean over what may be known of it.
    """
    tables = coded.tables
    for i, qid in reversed(list(enumerate(elimination.elimination_order(coded)))):
        names = {"state": f"state_{i}", "law": f"law_{qid.number}", "later": f"worth_{i + 1}"}
        view, needed = "earlier_worth", []
        is_last = i + 1 == len(coded.noisy)
        if qid.mistaken and is_last and states.ended_without_pairs:
            view, needed = "last_mistaken_worth", ["sums"]
        elif qid.mistaken:
            view, needed = "earlier_mistaken_worth", ["choices"]
        for name in needed:
            tables.make(name, coded.query(name, qid, tables=names))
        tables.make(f"worth_{i}", coded.query(view, qid, tables=names))
        tables.drop(f"worth_{i + 1}", *needed)
