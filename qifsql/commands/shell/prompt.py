"""The prompt: statements up to a semicolon, and the words ``.tables`` and ``.help``."""

import cmd
import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qifsql.engine.protocol import LocalEngine
from qifsql.errors import InputError, Interrupted, printable
from qifsql.query.plan import Step

Show = Callable[[Sequence[str], list[tuple[Any, ...]]], None]
WIDTH = 120  # of a description in one line
LEAVING = (".quit", ".exit", "quit", "exit")


def write_csv(names: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
    """Write a result as CSV to stdout."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


class Prompt(cmd.Cmd):
    """A prompt that runs statements, each up to a semicolon, and shows their rows.

    ``views`` are those of each schema; ``examples`` are queries that work on them. Nothing is
    remembered.
    """

    prompt = "qifsql> "
    more = "   ...> "

    def __init__(
        self,
        engine: LocalEngine,
        show: Show,
        views: Mapping[str, Sequence[Step]],
        examples: Sequence[str],
    ) -> None:
        """Set up the prompt; ``show`` prints columns and rows, ``views`` are those by schema."""
        super().__init__()
        self.engine = engine
        self.show = show
        self.views = views
        self.help = _help(examples)
        self.intro = self.help
        self.typed: list[str] = []  # the lines of a statement without its semicolon yet
        self.failed = False
        if not sys.stdin.isatty():  # statements come from a file or a pipe: show no prompt
            self.use_rawinput = False
            self.prompt = self.more = ""
            self.intro = ""
        self.first = self.prompt

    def onecmd(self, line: str) -> bool:
        """Take a line: run a statement at its semicolon, obey a word; return True to leave."""
        if line == "EOF":  # the end of the input
            if self.typed:
                self._run()
            return True
        word = line.strip()
        if not self.typed and (word.startswith(".") or word in ("", *LEAVING)):
            return self._obey(word)
        self.typed.append(line)
        if line.rstrip().endswith(";"):
            self._run()
        self.prompt = self.more if self.typed else self.first
        return False

    def _obey(self, word: str) -> bool:
        """Obey a word that is no statement, such as ``.tables``; return True to leave."""
        word = word.removesuffix(";")
        if word == ".tables":
            self._list_views()
        elif word == ".help":
            print(self.help)  # noqa: T201 - the prompt talks to the person at it
        elif word not in ("", *LEAVING):
            self.failed = True
            _complain("unknown command; there are .tables, .help and .quit")
        return word in LEAVING

    def _list_views(self) -> None:
        """Show each view with its schema and the first sentence about its rows."""
        rows = [
            (schema, view.name, _first_sentence(view.doc))
            for schema, listed in self.views.items()
            for view in listed
        ]
        first = 0 if len(self.views) > 1 else 1  # with one schema, its name is left out
        self.show(["schema", "view", "rows"][first:], [row[first:] for row in rows])

    def _run(self) -> None:
        """Run the statement that was typed, and show its rows or its error."""
        statement, self.typed = "\n".join(self.typed), []
        try:
            for names, rows in self.engine.script(statement):
                self.show(names, rows)
        except (InputError, Interrupted) as e:
            self.failed = True
            _complain(str(e))


def _first_sentence(doc: str) -> str:
    """Return the first sentence of a text; of one above ``WIDTH`` the part before a colon."""
    sentence = doc.partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= WIDTH else sentence[: sentence.rfind(":", 0, WIDTH)]


def _help(examples: Sequence[str]) -> str:
    listed = "\n".join(f"  {example}" for example in examples)
    text = (
        "End a statement with ;  .tables lists the views, .help shows this, Ctrl-D leaves.\n"
        f"Examples:\n{listed}\n"
    )
    return printable(text, "\n")


def _complain(message: str) -> None:
    print(printable(message, "\n\t"), file=sys.stderr)  # noqa: T201 - the prompt talks to the person at it
