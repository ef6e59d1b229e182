"""Texts and small files, changed at random and given to the readers of commands.

A command line takes a fifth of a second; here each change takes a millisecond or a few. A reader
understands a text or refuses it with a message that has no value of a cell.
"""

import errno
import random
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from campaign import recipes, tables
from campaign.draft import Draft, Step, row
from campaign.running import Place
from campaign.tables import CANARY
from campaign.work import TEXTS, Outcome, Task
from qifsql.adversary import changes, gains, laws, names, transitions
from qifsql.commands.dp import epsilons
from qifsql.commands.levels import spec as levels
from qifsql.commands.synthetic import synthetic
from qifsql.commands.tables import magnitude, new_tables, remedies
from qifsql.commands.unhash import automaton
from qifsql.data import cells
from qifsql.data.dataset import Dataset
from qifsql.data.domains import domain
from qifsql.data.hierarchy import Hierarchy
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.options import texts as option_texts
from qifsql.query import protections
from qifsql.results import stored
from qifsql.study import baseline
from qifsql.study import policy as policies
from qifsql.study.spec import Study

SLOW = 5.0  # seconds
TYPES = ("INTEGER", "DOUBLE", "DECIMAL(9,2)", "DATE", "TIMESTAMP", "TIME", "BOOLEAN", "VARCHAR")


@dataclass(frozen=True)
class Reader:
    """A reader of texts, and good texts; ``cells``: they stand in a file, and nobody types them."""

    read: Callable[[str], object]
    seeds: Sequence[str]
    cells: bool = False


def perform(task: Task, place: Place, log: Path) -> Outcome:
    """Give changed texts to the readers."""
    rng = random.Random(f"{task.seed}:text:{task.number}")
    outcome = Outcome(task.name, "(texts)")
    with place.fresh(), _readers(Draft(rng, rows=12), place, log) as readers:
        for _ in range(TEXTS):
            name = rng.choice([n for n in readers if not task.command or n == task.command])
            reader = readers[name]
            text = changed(rng, rng.choice(reader.seeds), rng.choice(reader.seeds))
            verdict, problem = _judged(reader, text)
            outcome.cases += 1
            outcome.notes[f"{name}: {verdict}"] = outcome.notes.get(f"{name}: {verdict}", 0) + 1
            if problem:
                found = {"kind": "text", "detail": problem[:600], "argv": [name, text[:2000]]}
                outcome.findings.append(found)
            if task.aloud:
                outcome.words.append(f"{name}: {verdict} {text[:200]!r}")
    return outcome


def _judged(reader: Reader, text: str) -> tuple[str, str]:
    """Return whether a text was read or refused, and what is wrong with that."""
    began = time.monotonic()
    try:
        reader.read(text)
        verdict, problem = "read", ""
    except (InputError, cells.UnreadableError) as e:
        verdict, problem = "refused", _of_message(str(e), text, reader)
    except UnicodeEncodeError as e:  # told as such by the command line
        lone = any(unicodedata.category(c) == "Cs" for c in text)
        verdict, problem = "refused", "" if lone else f"{type(e).__name__}: {e}"
    except OSError as e:  # as the command line tells it, which names no file that can be opened
        verdict, problem = "refused", "" if e.errno == errno.ENAMETOOLONG else f"OSError: {e}"
    except Exception as e:
        verdict, problem = "failed", f"{type(e).__name__}: {e}"
    took = time.monotonic() - began
    return verdict, problem or (f"took {took:.1f} s" if took > SLOW else "")


def _of_message(message: str, text: str, reader: Reader) -> str:
    """Return what is wrong with a message."""
    if not message.strip() or len(message) > 5000:
        return f"a message of {len(message)} characters"
    typed = [] if reader.cells else CANARY.findall(text)
    whole = "\n".join(typed)  # a message shows the beginning of a long text
    if leaked := [found for found in CANARY.findall(message) if found not in whole]:
        return f"a value of a cell, {leaked[0]}: {message}"
    return ""


# Changes

PIECES = (
    *('"', "'", ",", ";", ":", "=", "<", "<=", ">", "(", ")", "[", "]", "{", "}", "\\", "/", "|"),
    *("\x00", "\x1b[31m", "\u202e", "\udcff", "\U0001f642", "\u00bd", "\u0663", "\u2212", "\u0130"),
    *(" ", "\n", "\r", "\t", "\ufeff", "--", "/*", "*/", "*", "?", ".", "..", "+", "-", "%", "$1"),
    *("NaN", "inf", "-1", "-0", "1e999", "1e-999", "9" * 40, "9" * 5000, "0.1e400", "1/0", "1/3"),
    *("NULL", "null", "true", "''", '""', "[]", "{}", "()", "[[x]]", "x", "a.b", "0x10", "1_000"),
)
DEEP = ("(", "[", "{", "NOT ", "-", "a(", "[[", '{"a":', "CASE WHEN ")


def changed(rng: random.Random, text: str, other: str) -> str:
    """Return a text with one to four changes; ``other`` lends pieces."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        change = rng.randrange(9)
        if change == 0:
            text = text[:a] + text[a + rng.choice((1, 1, 2, 5)) :]
        elif change in (1, 2):
            text = text[:a] + rng.choice(PIECES) + text[a:]
        elif change == 3:
            text = text[:a] + rng.choice(PIECES) + text[b:]
        elif change == 4:
            c, d = sorted(rng.randrange(len(other) + 1) for _ in range(2))
            text = text[:a] + other[c:d] + text[b:]
        elif change == 5:
            text = text[:b] + text[a:b] * rng.choice((1, 1, 2, 50)) + text[b:]
        elif change == 6:
            text = _with_number(rng, text)
        elif change == 7:
            text = text[:a] + text[a:b].swapcase() + text[b:]
        elif rng.random() < 0.2:
            text = text[:a] + rng.choice(DEEP) * rng.choice((30, 3000)) + text[a:]
        else:
            text = text[:a]
    return text


def _with_number(rng: random.Random, text: str) -> str:
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
    if not numbers:
        return text
    found = rng.choice(numbers)
    odd = rng.choice(("0", "-1", "1", "1.5", "1e3", "1e400", "9" * 30, "NaN", "inf", "\u0663", ""))
    return text[: found.start()] + odd + text[found.end() :]


# Readers


@contextmanager
def _readers(d: Draft, place: Place, log: Path) -> Iterator[dict[str, Reader]]:
    """Give the readers over the table of a draft."""
    result, manifest = _result(d, place, log)
    dataset = Dataset.open(tables.write(d.data, "people", ".parquet"))
    with open_engine(Settings(threads=1), sources=[dataset]) as engine:
        catalog = Catalog(engine, dataset, None)
        yield {**_words(d), **_columns(d, catalog), **_files(d, result, manifest)}


def _words(d: Draft) -> dict[str, Reader]:
    """Return the readers of short texts."""
    rules = [f"{_name(d)}:{w}" for w in ("stay=0.9", "exact", "+1", "unknown", "any", "+-1")]
    known = [f"{_name(d)}:{w}" for w in ("+-2", "sd=1.5", "right=0.9", "missing=0.3", "exact")]
    sums = [f"{_name(d)}:{row(d.qids(1, 2))}" for _ in range(3)]
    numbers = ["ln 3, 1", "0.1", "ln 10^5", "2.5e-1"]
    thresholds = ["2", "0.5", "1/3", "2,3,5"]
    return {
        "gain": Reader(gains.parse, [recipes.gain(d, kind, d.secret()) for kind in range(7)]),
        "link rules": Reader(transitions.rules, [*rules, "; ".join(rules[:3])]),
        "laws": Reader(laws.laws, [*known, "; ".join(known[:2])]),
        "protection": Reader(protections.parse, [p[1:] for p in recipes.PROTECTIONS if p]),
        "tables": Reader(
            lambda t: new_tables.parse_tables([t]), [recipes.table(d) for _ in range(6)]
        ),
        "sums": Reader(magnitude.parse_magnitudes, sums),
        "table bounds": Reader(lambda t: remedies.parse_limits([t]), recipes.TABLE_BOUNDS),
        "synthetic bounds": Reader(
            lambda t: synthetic.parse_bounds([t]),
            ["repU<=0.5", "iS<=1", "UiO>=0", "DiSCO<=0.01"],
        ),
        "epsilons": Reader(epsilons.parse, numbers),
        "patterns": Reader(automaton.parse, ["[0-9]{2}[AB]", r"\d{2}", "(a|b){1,3}x?", "[^a-c]."]),
        "levels": Reader(lambda t: levels.read_levels({"k": t, "l": t, "t": t}), thresholds),
        "seconds": Reader(option_texts.seconds, ["1m", "30s", "0.1s", "5", "1.5h"]),
        "targets": Reader(
            lambda t: option_texts.targets([t], list(d.data.qids)), d.target(d.qids(1, 2))[1::2]
        ),
        "memory": Reader(lambda t: Settings(memory=t).memory_limit, ["400MB", "8GB", "1 GiB"]),
        "subset": Reader(
            lambda t: names.subset(t, list(d.data.qids)),
            ["+".join(d.qids()) for _ in range(3)],
        ),
        **{
            f"cells of {type_}": Reader(
                partial(cells.parse, domain=domain(type_)),
                ["[1,5)", "{1, 2}", "10-19", ">=65", "*", "2019-01", "[2019-01-01,2020-01-01]"],
                cells=True,
            )
            for type_ in TYPES
        },
    }


def _columns(d: Draft, catalog: Catalog) -> dict[str, Reader]:
    """Return the readers of names and expressions over the table."""
    qids = names.attributes(list(d.data.qids), catalog.schema, names.QID)
    expressions = [recipes.where(d) for _ in range(5)]
    attributes = [row(d.qids(1, 1)) for _ in range(3)] + [f"x={e}" for e in expressions]

    def bound(text: str) -> object:
        found = names.attributes([text], catalog.schema, names.QID)
        return catalog.types([a.expression for a in found], [a.name for a in found])

    return {
        "attributes": Reader(bound, attributes),
        "conditions": Reader(catalog.filter, expressions),
        "changes": Reader(
            lambda t: changes.read(t, qids),
            [recipes.change(d, name) for name in d.data.qids for _ in range(3)],
        ),
    }


def _files(d: Draft, result: str, manifest: str) -> dict[str, Reader]:
    """Return the readers of files."""
    hierarchy = Path(d.hierarchy(d.data.qids[0])).read_bytes().decode("utf-8", "surrogateescape")
    return {
        "hierarchy": Reader(_in_file("h.csv", Hierarchy.read), [hierarchy], cells=True),
        "study": Reader(_in_file("s.toml", Study.load), [recipes.study(d) for _ in range(4)]),
        "policy": Reader(_in_file("p.toml", policies.read), [recipes.policy(d) for _ in range(4)]),
        "baseline": Reader(_in_file("b.json", baseline.read), [result], cells=True),
        "result": Reader(
            _in_file("good.json", lambda path: stored.read([path]), manifest), [result], cells=True
        ),
        "manifest": Reader(
            _in_file("good.json.manifest.json", lambda _: stored.read(["good.json"]), result),
            [manifest],
            cells=True,
        ),
    }


def _in_file(name: str, read: Callable[[str], object], other: str = "") -> Callable[[str], object]:
    """Return a reader of a text that writes it into a file first, bytes that are no text, too.

    ``other`` is the text of the file that belongs to it: the manifest of a result, or the result.
    """

    def whole(text: str) -> Any:
        if other:
            end = ".manifest.json"
            beside = name.removesuffix(end) if name.endswith(end) else name + end
            Path(beside).write_text(other, "utf-8")
        Path(name).write_bytes(text.encode("utf-8", "surrogateescape"))
        return read(name)

    return whole


def _result(d: Draft, place: Place, log: Path) -> tuple[str, str]:
    """Return a stored result of an attack, and its manifest."""
    d = Draft(d.rng, hostile=0, rows=12)
    place.run(Step(["attack", "crs", d.file, *d.known(d.qids(1, 2)), "-o", "good.json"]), log)
    names = ("good.json", "good.json.manifest.json")
    result, manifest = (Path(name).read_text("utf-8") for name in names)
    return result, manifest


def _name(d: Draft) -> str:
    return '"' + d.qids(1, 1)[0].replace('"', '""') + '"'
