"""Complete typed words before typer reads them: former options, and words that are left out."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from gettext import gettext
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from qifsql.adversary.models import MODELS
from qifsql.options.grouping import OPTIONAL_SHARE
from qifsql.options.runtime import talk

QIDS = ("--qids", "-q")


class Command(TyperCommand):
    """A command whose option ``--help`` is shown with the output, in the user's language."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed: old names of options, and values and a model that are left out."""
        args = _current(args, getattr(self.callback, "renamed", {}))
        shares = (p for p in self.params if getattr(p, "metavar", "") == OPTIONAL_SHARE)
        args = with_bare_values(args, [flag for option in shares for flag in option.opts])
        if any(p.name == "model" for p in self.params):
            typed, *_ = self.make_parser(ctx).parse_args([*args])
            args = [*left_out_model(typed), *args]
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option with its text translated: typer's text is English."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = gettext(option.help or "")
            option.metavar = ""
            beside = (p for p in self.params if p.name == "quiet")
            option.rich_help_panel = getattr(next(beside, None), "rich_help_panel", None)
        return option


def _current(words: Sequence[str], renamed: Mapping[str, str]) -> list[str]:
    """Return typed words with today's names of options, and a note on each that was replaced."""
    current = []
    for word in words:
        flag = word.partition("=")[0] if word.startswith("--") else word[:2]
        if flag not in renamed:
            current.append(word)
            continue
        if "--quiet" not in words:
            talk(f"note: {flag} is now {renamed[flag]}")
        ending = word.removeprefix(flag)
        equals = "=" if ending and not word.startswith("--") else ""  # -cNAME: --column=NAME
        current.append(renamed[flag] + equals + ending)
    return current


def with_bare_values(words: Sequence[str], bare: Collection[str]) -> list[str]:
    """Return typed words with the value 1 behind each option of ``bare`` that has no number.

    >>> with_bare_values(["--suppress", "FILE", "--suppress", "0.04"], ["--suppress"])
    ['--suppress', '1', 'FILE', '--suppress', '0.04']
    """
    complete: list[str] = []
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        complete.append(word)
        if word in bare and not re.fullmatch(r"-?[0-9./]+", following):
            complete.append("1")
    return complete


def left_out_model(typed: Mapping[str, Any]) -> list[str]:
    """Return the usual model to put in front if it was left out: crs, with a secret crs,cas.

    ``typed`` are the words by argument and option. The first word is then a file, in the place of
    the model. Letters and commas mean a (misspelt) model, unless there is a file of that name. A
    policy names its models: then the word is empty.
    """
    word = typed.get("model")
    if not isinstance(word, str) or word.casefold() in ("", *MODELS):
        return []
    if re.fullmatch("[A-Za-z, ]*", word) and ("," in word or not Path(word).exists()):
        return []
    if typed.get("policy"):
        return [""]
    return ["crs,cas" if typed.get("secret") else "crs"]


def split_qids(words: Sequence[str], message: str) -> str:
    """Return the hint that quasi-identifiers are one word, if an error is about a second one.

    Args:
        words: The words of the command line: ``--qids age sex``.
        message: The error: it names a word that is no file.

    Returns:
        ``did you mean --qids age,sex?``, or an empty text.

    """

    def is_name(word: str) -> bool:
        path = Path(word)
        is_file = path.name != word or bool(path.suffix) or path.exists()
        return not word.startswith("-") and not is_file

    for place, flag in enumerate(words):
        if flag not in QIDS:
            continue
        value, words_after = words[place + 1 : place + 2], words[place + 2 :]
        names = list(takewhile(is_name, words_after))
        if names and re.search(rf"(?<!\w){re.escape(names[0])}(?!\w)", message):
            return f"did you mean {flag} {shlex.quote(','.join([*value, *names]))}?"
    return ""
