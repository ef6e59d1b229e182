"""Explain each measure: formula, direction, range, source, and a worked example.

The texts are in ``measures.toml``, next to this module. The example is a template there, filled in
from the counts of a small table of the samples (thesis Table 3.2), so it cannot differ from the
result of an attack.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, overload

from qifsql.commands.explain.examples import templates
from qifsql.commands.explain.examples.sample import Sample
from qifsql.commands.explain.result import Explanation
from qifsql.data.files import bundled
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.results.storage import Origin

TABLE = "thesis_table_3_2.csv"
QIDS, BY, SECRET = "age", "gender", "illness"


@overload
def explain(measure: str, settings: Settings | None = None) -> Explanation:  # noqa: D418 - it is public
    """Explain one measure."""


@overload
def explain(  # noqa: D418 - it is public
    measure: None = None, settings: Settings | None = None
) -> tuple[Explanation, ...]:
    """Explain all measures."""


def explain(
    measure: str | None = None, settings: Settings | None = None
) -> Explanation | tuple[Explanation, ...]:
    """Explain a measure, or all of them: formula, worked example, direction, range, source.

    Args:
        measure: Name (probabilistic), alias (bayes) or result column (posterior_probabilistic);
            None for all.

    Returns:
        An Explanation; of all measures a tuple, in the order of the reference.

    Raises:
        InputError: There is no such measure.

    Example:
        >>> qifsql.explain("bayes").name
        'probabilistic'

    Source: docs/mathematics.

    """
    name = None if measure is None else _measure_named(measure)
    origin = Origin.now(settings, "explain")
    sample, counted = _sample(settings)
    origin = origin.about({"measure": name}, counted.paths, *counted.plans)
    if name is not None:
        return _explained(name, sample, origin)
    return tuple(_explained(name, sample, origin) for name in _texts())


def example(name: str, sample: Sample) -> tuple[str, ...]:
    """Return the worked example of a measure, line by line, from the counts of a small table."""
    return templates.lines(_texts()[name]["example"], sample)


def _explained(name: str, sample: Sample, origin: Origin) -> Explanation:
    """Return the explanation of one measure, with its example on the small table."""
    text = _texts()[name]
    fields: dict[str, Any] = {
        key: text[key] for key in ("title", "meaning", "formula", "direction", "range", "source")
    }
    fields |= {key: tuple(text.get(key, ())) for key in ("notes", "columns", "aliases")}
    return Explanation(
        name=name,
        symbols=tuple(_glossary_entries("symbols", f"{text['formula']} {text['range']}")),
        works=tuple(_glossary_entries("works", text["source"])),
        example=example(name, sample),
        origin=origin,
        **fields,
    )


def _measure_named(measure: str) -> str:
    """Return the measure with this name, alias or column; InputError if it is unknown."""
    names = _measures_by_name()
    key = "_".join(re.split(r"[\s_-]+", measure.strip().casefold()))
    if key not in names:
        hint = did_you_mean(key, get_close_matches(key, names))
        hint = hint or f"; there are {', '.join(_texts())}"
        raise InputError(f"there is no measure {quoted(measure)}{hint}")
    return names[key]


@cache
def _measures_by_name() -> dict[str, str]:
    """Return the measure by each accepted name: its own, an alias, or a column of results.

    A name that several measures share means the first of them.
    """
    names = {name: name for name in _texts()}
    for kind in ("aliases", "columns"):
        for name, text in _texts().items():
            for alias in text.get(kind, ()):
                names.setdefault(alias, name)
    return names


def _texts() -> dict[str, dict[str, Any]]:
    return {name: text for name, text in _file().items() if name not in ("symbols", "works")}


def words_of(measure: str) -> Mapping[str, Any]:
    """Return title, meaning, formula, source and more of a measure, without an example."""
    return _texts()[_measure_named(measure)]


def _glossary_entries(glossary: str, text: str) -> Iterable[str]:
    """Yield the entries of a glossary that occur in a text: ``N: all people``."""
    entries: Mapping[str, str] = _file()[glossary]
    for entry, meaning in entries.items():
        if re.search(rf"(?<!\w){re.escape(entry)}(?!\w)", text):
            yield f"{entry}: {meaning}"


@cache
def _file() -> dict[str, dict[str, Any]]:
    """Return the texts of ``measures.toml``, each on one line; examples are templates."""
    text = Path(__file__).with_name("measures.toml").read_text(encoding="utf-8")
    return {name: _folded(entries) for name, entries in tomllib.loads(text).items()}


def _folded(text: Any) -> Any:
    """Return texts (in dictionaries or lists) with line breaks as spaces, except examples."""
    if isinstance(text, dict):
        return {k: part if k == "example" else _folded(part) for k, part in text.items()}
    if isinstance(text, list):
        return [_folded(part) for part in text]
    return " ".join(text.split())


def _sample(settings: Settings | None) -> tuple[Sample, Origin]:
    """Return the counts of the table of all examples, by ``qifsql inspect``, and their origin.

    A cell is a pair of values of ``QIDS`` and ``BY``, with the people of each value of the secret.
    """
    from qifsql.commands.inspect.inspect import inspect  # texts without an example need no engine

    partition = inspect(
        bundled("data-samples") / TABLE, qids=[QIDS, BY], secret=SECRET, limit=0, settings=settings
    )
    cells = {
        (str(row[QIDS]), str(row[BY])): {
            str(count["value"]): int(count["records"]) for count in row[f"counts_{SECRET}"]
        }
        for row in partition.frame.sort(QIDS, BY).iter_rows(named=True)
    }
    return Sample(qid=QIDS, by=BY, secret=SECRET, cells=cells), partition.origin
