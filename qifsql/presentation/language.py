"""The language of the reader: message catalogues of gettext, and how numbers are written.

A message is written in English where it is used, ``said("{n} people", n=count(5))``, and looked
up in the catalogue of the language that is spoken: ``qifsql/locale``. Values go in after that, so
that no name of a column can be read as part of a message.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from gettext import GNUTranslations, NullTranslations, bindtextdomain, textdomain
from pathlib import Path

from qifsql.errors import InputError

LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The variables of the environment that name the locale, the first that is set."""

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


def translated(text: str) -> str:
    """Return a text without values in the current language, or as it is."""
    return _catalogue(spoken().code).gettext(text) if text else text


def of_locale() -> str:
    """Return the language of the user's locale (LC_ALL, LC_MESSAGES, LANG): English if unknown."""
    locale = next((v for n in LOCALES if (v := os.environ.get(n))), "")
    family = locale.partition("_")[0].casefold()
    return next((code for code in LANGUAGES if code.partition("-")[0] == family), ENGLISH.code)


def bind_locale() -> None:
    """Let the command line's own words (Usage, Options) be looked up in the catalogues, too."""
    bindtextdomain("qifsql", str(LOCALE))
    textdomain("qifsql")


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
