"""The language of the reader: message catalogues of gettext, and formats of numbers.

The code contains messages in English, ``said("{n} people", n=count(5))``, and looks them up in the
catalogue of the current language: ``qifsql/locale``. Values are inserted after that, so that no
name of a column can be read as part of a message.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from gettext import NullTranslations, bindtextdomain, textdomain, translation
from pathlib import Path
from typing import Any

from qifsql.errors import InputError

LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The variables of the environment that name the locale; the first that is set counts."""

LOCALE = Path(__file__).resolve().parent / "locale"


@dataclass(frozen=True)
class Language:
    """A language: its code, its name, the separators in its numbers, and the word for people."""

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
    """Use a language, such as ``pt-BR``, for all words inside the context.

    ``people`` is the word for people, such as pupils. Raises InputError for unknown languages.
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


@contextmanager
def counting(spec: Mapping[str, Any]) -> Iterator[None]:
    """Speak of records inside the context if the request says that people have several of them."""
    if not spec.get("repeated"):
        yield
        return
    with speaking(spoken().code, people=said("records")):
        yield


def said(message: str, **values: object) -> str:
    """Return a message in the current language, with its values."""
    return _catalogue(spoken().code).gettext(message).format(**values)


def translated(text: str) -> str:
    """Return a text without values in the current language, unchanged if it has no translation."""
    return _catalogue(spoken().code).gettext(text) if text else text


def of_locale() -> str:
    """Return the language of the user's locale (LC_ALL, LC_MESSAGES, LANG): English if unknown."""
    locale = next((v for n in LOCALES if (v := os.environ.get(n))), "")
    family = locale.partition("_")[0].casefold()
    return next((code for code in LANGUAGES if code.partition("-")[0] == family), ENGLISH.code)


def bind_locale() -> None:
    """Let the command line also look up its fixed words (Usage, Options) in the catalogues."""
    bindtextdomain("qifsql", str(LOCALE))
    textdomain("qifsql")


def counted(singular: str, plural: str, n: int, **values: object) -> str:
    """Return a message about ``n`` things, in which ``{n}`` is replaced by the number."""
    message = _catalogue(spoken().code).ngettext(singular, plural, n)
    return message.format(n=number(f"{n:,}"), **values)


def number(text: str) -> str:
    """Return a number in Python's format, ``1,234.5``, in that of the language: ``1.234,5``."""
    language = spoken()
    return text.translate({ord(","): language.group, ord("."): language.decimal})


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == ENGLISH.code:  # the messages in the code are English
        return NullTranslations()
    try:
        return translation("qifsql", LOCALE, [code.replace("-", "_")])
    except FileNotFoundError as e:  # sources that were not installed
        raise InputError(f"the catalogue of {code} is not built; install qifsql") from e
