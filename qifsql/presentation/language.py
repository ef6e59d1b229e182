"""The language of the reader: message catalogues of gettext, and how numbers are written.

A message is written in English where it is used, ``said("{n} people", n=count(5))``, and looked
up in the catalogue of the language that is spoken: ``qifsql/locale``. Values go in after that, so
that no name of a column can be read as part of a message.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from qifsql.errors import InputError

LOCALE = Path(__file__).resolve().parent / "locale"


@dataclass(frozen=True)
class Language:
    """A language: its code, its name, what stands in its numbers, and what people are called."""

    code: str
    name: str
    decimal: str = "."
    group: str = ","
    people: str = ""


ENGLISH = Language("en", "English")
LANGUAGES = {ENGLISH.code: ENGLISH, "pt-BR": Language("pt-BR", "português", ",", ".")}
_SPOKEN: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def spoken() -> Language:
    """Return the language in use."""
    return _SPOKEN.get()


@contextmanager
def speaking(code: str, people: str = "") -> Iterator[Language]:
    """Speak a language, such as ``pt-BR``, of ``people``, such as pupils, until this ends.

    Raises InputError for unknown languages.
    """
    languages = {name.casefold(): language for name, language in LANGUAGES.items()}
    language = languages.get(code.replace("_", "-").casefold())
    if language is None:
        raise InputError(f"there is no language {code}; use one of {', '.join(LANGUAGES)}")
    token = _SPOKEN.set(replace(language, people=people))
    try:
        yield spoken()
    finally:
        _SPOKEN.reset(token)


def said(message: str, **values: object) -> str:
    """Return a message in the current language, with its values."""
    return _catalogue(spoken().code).gettext(message).format(**values)


def counted(one: str, many: str, n: int, **values: object) -> str:
    """Return a message about ``n`` things, which stands in it as ``{n}``."""
    message = _catalogue(spoken().code).ngettext(one, many, n)
    return message.format(n=number(f"{n:,}"), **values)


def number(text: str) -> str:
    """Return a number as Python writes it, ``1,234.5``, as the language does: ``1.234,5``."""
    language = spoken()
    return text.translate({ord(","): language.group, ord("."): language.decimal})


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == ENGLISH.code:  # messages are written in it
        return NullTranslations()
    path = LOCALE / code.replace("-", "_") / "LC_MESSAGES" / "qifsql.mo"
    with path.open("rb") as file:
        return GNUTranslations(file)
