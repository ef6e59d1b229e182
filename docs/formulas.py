"""Make the page of sources: each equation with its source, its published numbers and its tests.

Equations and sources are read from ``docs/mathematics/``, published numbers, deviations and tests
from ``formulas.toml``, the cited works from the texts of ``qifsql explain``.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import qifsql

Reader: TypeAlias = Callable[[str], str]

HERE = Path(__file__).resolve().parent
TABLE = HERE / "formulas.toml"
WORKS = Path(qifsql.__file__).parent / "commands" / "explain" / "measures.toml"
HEADING = re.compile(r"^## (M\d+)\. (.+)$", re.M)
BULLET = re.compile(r"^- \*\*([^*]+)\*\*: (.*?)(?=\n- |\n\n|\Z)", re.M | re.S)
DIFFERENCES = ("Misprint", "Other programs")
"""The beginnings of bullets about what differs elsewhere."""
OWN = "own: derived on its page"
INTRODUCTION = """# Sources of the formulas

Each equation of [the mathematics](../mathematics/index.md): where it comes from, the published
numbers that a test reproduces, where qifsql differs from the source, and the tests. Tests are named
by their file below `tests/` of the repository.

Of {all} equations, {published} have a published number, or one of another program, that is
reproduced. For the others none is known. Their tests compare with slow programs that are written
from the definition (`qifsql/reference/`, `tests/oracles/`), with numbers by hand, or with other
programs on random data. Tests on large public data are skipped where these are not.
"""


@dataclass(frozen=True)
class Equation:
    """One equation: its number, title, page, source, and what its page says of other numbers."""

    number: str
    title: str
    page: str
    source: str
    differences: tuple[str, ...]

    @property
    def place(self) -> str:
        """Return its address from the pages of the reference."""
        return f"../mathematics/{self.page}.md#{self.number.casefold()}"


def written(page: str) -> str:
    """Return the text of a page of the mathematics."""
    return (HERE / "mathematics" / f"{page}.md").read_text("utf-8")


def equations(read: Reader = written) -> Iterator[Equation]:
    """Yield the equations, page by page in the order of the list of all equations."""
    for page in re.findall(r"^### \[.+\]\((\w+)\.md\)$", read("index"), re.M):
        _, *parts = HEADING.split(read(page))
        for number, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            bullets = [(label, _linked(words, page)) for label, words in BULLET.findall(body)]
            sources = [words for label, words in bullets if label == "Source"]
            differences = [words for label, words in bullets if label.startswith(DIFFERENCES)]
            yield Equation(number, title, page, " ".join(sources) or OWN, tuple(differences))


def _linked(words: str, page: str) -> str:
    """Return a text of a page of the mathematics in one line, with links that hold elsewhere."""
    words = " ".join(words.split())
    words = re.sub(r"\]\(#", f"](../mathematics/{page}.md#", words)
    return re.sub(r"\]\((\w+\.md)", r"](../mathematics/\1", words)


def evidence(text: str = "") -> dict[str, dict[str, Any]]:
    """Return the published numbers, deviations and tests of each equation."""
    return tomllib.loads(text or TABLE.read_text("utf-8"))


def page() -> str:
    """Return the page of sources."""
    proofs, every = evidence(), list(equations())
    published = sum("published" in proof for proof in proofs.values())
    parts = [INTRODUCTION.format(all=len(every), published=published)]
    for name, some in groupby(every, key=lambda equation: equation.page):
        title = re.search(r"^# (.+)$", written(name), re.M)
        parts.append(f"## {title[1] if title else name}\n")
        parts += [_entry(equation, proofs[equation.number]) for equation in some]
    works: Mapping[str, str] = tomllib.loads(WORKS.read_text("utf-8"))["works"]
    parts.append("## Works\n")
    parts.append(
        "".join(f"- **{name}**: {' '.join(work.split())}\n" for name, work in works.items())
    )
    return "\n".join(parts)


def _entry(equation: Equation, proof: Mapping[str, Any]) -> str:
    lines = [f"### [{equation.number}. {equation.title}]({equation.place})\n"]
    lines.append(f"- **Source**: {equation.source.removesuffix('.')}.")
    lines.append(f"- **Published numbers**: {proof.get('published', 'none known')}.")
    if "defined" in proof:
        lines.append(
            f"- **Places**: defined by `reference/{proof['defined']}`, computed by "
            f"`{proof['computed'].removeprefix('qifsql/')}`"
        )
    differences = [*equation.differences, *([proof["deviation"]] if "deviation" in proof else [])]
    lines += [f"- **Differs**: {difference}" for difference in differences]
    for file, tests in groupby(proof["tests"], key=lambda test: test.partition("::")[0]):
        names = [f"`{test.partition('::')[2]}`" for test in tests]
        lines.append(f"- **Tests** in `{file}`: {', '.join(names)}")
    return "\n".join(lines) + "\n"
