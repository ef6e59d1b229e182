"""The texts of the repository, and what a rule finds in them."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from trees import parsed

Node = TypeVar("Node", bound=ast.AST)

FILES = {  # folder -> endings of the files that are read
    "qifsql": ("py", "toml", "html"),
    "sql": ("sql", "md"),
    "tests": ("py",),
    "benchmarks": ("py",),
    "docs": ("md", "py", "toml", "txt", "json"),
    "data-samples": ("py",),
}
ALONE = ("README.md", "SECURITY.md")


class Finding(NamedTuple):
    """A place at which a rule is broken, and what is wrong."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return it as editors and ruff write a place."""
        return f"{self.file}:{self.line}: {self.message}"


class Module:
    """A module: its place in the repository, its name below qifsql, its tree."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        parts = file.removesuffix(".py").split("/")[1:]
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        """Such as ``engine.duckdb``; empty for qifsql itself."""

    @property
    def is_package(self) -> bool:
        """Return whether this is the ``__init__`` of a folder."""
        return self.file.endswith("__init__.py")

    @property
    def tree(self) -> ast.Module:
        """Return the syntax tree."""
        return parsed(self.text)

    def nodes(self, *kinds: type[Node]) -> Iterator[Node]:
        """Yield the nodes of these kinds anywhere in the module."""
        for kind in kinds:
            yield from self._by_kind[kind]  # type: ignore[misc]

    @cached_property
    def _by_kind(self) -> Mapping[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in ast.walk(self.tree):
            found[type(node)].append(node)
        return found


@dataclass(frozen=True, eq=False)
class Project:
    """Texts by their place in the repository, such as ``qifsql/errors.py``."""

    texts: Mapping[str, str]

    @classmethod
    def read(cls, root: Path) -> "Project":
        """Read the repository."""
        paths = [root / name for name in ALONE]
        for folder, endings in FILES.items():
            for ending in endings:
                paths += sorted((root / folder).rglob(f"*.{ending}"))
        return cls({p.relative_to(root).as_posix(): p.read_text("utf-8") for p in paths})

    def files(self, folder: str, ending: str) -> Iterator[str]:
        """Yield the places of the files in a folder, and in those below it."""
        for file in self.texts:
            if file.startswith(f"{folder}/") and file.endswith(f".{ending}"):
                yield file

    @cached_property
    def modules(self) -> Mapping[str, Module]:
        """The modules of the package by name."""
        modules = (Module(file, self.texts[file]) for file in self.files("qifsql", "py"))
        return {module.name: module for module in modules}

    def line(self, file: str, part: str) -> int:
        """Return the first line of a file in which something stands; 1 where it does not."""
        before, found, _ = self.texts.get(file, "").partition(part)
        return before.count("\n") + 1 if found else 1


Rule: TypeAlias = Callable[[Project], Iterable[Finding]]
