"""The commands and their options, read from the command line itself."""

from dataclasses import dataclass
from functools import cache

import typer

from qifsql.app import application


@dataclass(frozen=True)
class Option:
    """An option: its names, the longest first, and whether it takes a value, is needed, repeats."""

    names: tuple[str, ...]
    kind: str
    required: bool
    multiple: bool

    @property
    def name(self) -> str:
        """The name by which recipes know it."""
        return self.names[0]

    @property
    def is_flag(self) -> bool:
        """Return whether it takes no value."""
        return self.kind == "flag"


@cache
def commands() -> dict[str, tuple[Option, ...]]:
    """Every command with its options, in the order of the help."""
    group = typer.main.get_command(application())
    return {
        name: tuple(_option(p) for p in command.params if p.param_type_name == "option")
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    }


def _option(parameter: object) -> Option:
    names = sorted((*parameter.opts, *parameter.secondary_opts), key=len, reverse=True)  # type: ignore[attr-defined]
    names = [*parameter.opts[:1], *(n for n in names if n != parameter.opts[0])]  # type: ignore[attr-defined]
    flag = bool(getattr(parameter, "is_flag", False))
    kind = getattr(parameter, "type_descriptor", None)
    text = str(getattr(kind, "annotation", ""))
    word = next((w for w in ("int", "float") if f"'{w}'" in text), "text")
    required, multiple = bool(parameter.required), bool(parameter.multiple)  # type: ignore[attr-defined]
    return Option(tuple(names), "flag" if flag else word, required, multiple)


def option(command: str, word: str) -> Option | None:
    """The option of a command that a word names."""
    return next((o for o in commands().get(command, ()) if word in o.names), None)


def given(argv: list[str], *names: str) -> list[str]:
    """The values that options of these names have on a command line."""
    found = []
    for i, word in enumerate(argv):
        if word in names and i + 1 < len(argv):
            found.append(argv[i + 1])
        found += [word.partition("=")[2] for name in names if word.startswith(f"{name}=")]
    return found
