"""The languages of reports: every message is found, translated, and nothing else is."""

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

import messages
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from messages import Message
from places import ROOT

from lint.project import Finding, Project, Rule
from qifsql.presentation.language import LANGUAGES, LOCALE

SPEAKING = "qifsql.presentation.language"
OTHERS = [code for code in LANGUAGES if code != "en"]
ALIKE = {  # the same in both languages
    *("KL (bits)", "classes", "k-map", "local", "original", "qifsql", "{n} byte"),
    *("MSUs", "DIS-SUDA", "{size}: {n}", "{name}: {share}"),
}


def catalogue(code: str) -> Catalog:
    """Return the catalogue of a language."""
    with file(code).open("rb") as source:
        return read_po(source, locale=code.replace("-", "_"))


def file(code: str) -> Path:
    """Return the file of a catalogue."""
    return LOCALE / code.replace("-", "_") / "LC_MESSAGES" / "qifsql.po"


def forms(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return a message or a translation as a tuple: one text, or one for each plural form."""
    return (text,) if isinstance(text, str) else tuple(text)


def translations(catalog: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the messages of a catalogue and their translations."""
    return {forms(entry.id): forms(entry.string) for entry in catalog if entry.id}


def a_message_is_said_by_its_name(project: Project) -> Iterator[Finding]:
    """Find functions that translate under another name: their messages would not be found."""
    for module in project.modules.values():
        for node in module.nodes(ast.Import, ast.ImportFrom):
            home = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                name = f"{home}{alias.name}"
                if name == SPEAKING:
                    yield Finding(module.file, node.lineno, f"import the functions of {name}")
                if alias.asname and name in {f"{SPEAKING}.{n}" for n in messages.FUNCTIONS}:
                    yield Finding(module.file, node.lineno, f"{alias.name} keeps its name")


def a_catalogue_is_complete(_: Project) -> Iterator[Finding]:
    """Find what is wrong with the catalogues of other languages."""
    for code in OTHERS:
        place = file(code).relative_to(ROOT).as_posix()
        for message in faults(catalogue(code), _messages(), ALIKE):
            yield Finding(place, 1, message)


@cache
def _messages() -> dict[Message, list[str]]:
    return messages.messages()


def faults(catalog: Catalog, said: Collection[Message], alike: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with a catalogue."""
    entries = {entry.id: entry for entry in catalog if entry.id}
    yield from (f"run python tests/messages.py: {m} is new" for m in said - entries.keys())
    yield from (f"run python tests/messages.py: nobody says {m}" for m in entries.keys() - said)
    for entry in entries.values():
        translated = forms(entry.string)
        if not all(translated) or entry.fuzzy:
            yield f"not translated, or from another wording: {entry.id}"
        elif len(translated) != (catalog.num_plurals if entry.pluralizable else 1):
            yield f"there is not one translation for each plural form: {entry.id}"
    for message, translation in translations(catalog).items():
        wanted = _fields(message[0])
        for text in (*message, *translation):
            if all(translation) and _fields(text) != wanted:
                yield f"other placeholders than in the message: {text}"
        if (message == translation) != (message[0] in alike):
            yield f"the same in both languages, or listed so and not: {message[0]}"


def _fields(text: str) -> list[tuple[str | None, ...]]:
    """Return what is filled in, in any order."""
    parts = Formatter().parse(text)
    return sorted((name, spec, how) for _, name, spec, how in parts if name is not None)


RULES: Iterable[Rule] = (a_message_is_said_by_its_name, a_catalogue_is_complete)
