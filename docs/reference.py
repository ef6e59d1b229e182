"""Write the reference pages of the documentation from the code: ``docs/reference/``.

Run it as ``python docs/reference.py`` after a change of options, functions, measures, columns of
results, formats or SQL; the lint compares.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import formulas
import polars as pl
import result_schema
from typer.testing import CliRunner

import qifsql
from qifsql import commands
from qifsql.adversary.options import Options
from qifsql.app import application
from qifsql.data.documentation import description
from qifsql.data.option import declared
from qifsql.query.templates import folder
from qifsql.study import forms
from qifsql.study import policy as policies

HERE = Path(__file__).resolve().parent / "reference"
PACKAGE = Path(qifsql.__file__).resolve().parent
MADE = "<!-- made by docs/reference.py from the code; do not edit -->\n\n"
WIDTH = 100
SCHEMA = "dict[str, pl.DataType]"
"""The type of a table of columns."""


def pages() -> dict[str, str]:
    """Return the text of each page by its place below ``reference/``."""
    made = {
        "commands.md": _index(),
        **{f"commands/{name}.md": _command(name) for name in commands.NAMES},
        "python.md": _python(),
        "measures.md": _measures(),
        "columns.md": _columns(),
        "sources.md": formulas.page(),
        "studies.md": _studies(),
        "policies.md": _policies(),
        "sql.md": (folder() / "README.md").read_text("utf-8"),
    }
    return {name: MADE + text for name, text in made.items()}


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _help(*words: str) -> str:
    """Return a help text as it is shown on a wide terminal."""
    shown = CliRunner().invoke(
        application([name.replace("-", "_") for name in words]),
        [*words, "--help"],
        terminal_width=WIDTH,
        env={"COLUMNS": str(WIDTH)},
    )
    return "\n".join(line.rstrip() for line in shown.output.strip("\n").splitlines())


def _summary(name: str) -> str:
    """Return the first line of what a command says of itself."""
    return str(import_module(f"qifsql.commands.{name}").__doc__)


def _index() -> str:
    rows = [f"| [{_typed(n)}](commands/{n}.md) | {_summary(n)} |" for n in commands.NAMES]
    return "# Commands\n\n| command | what it does |\n|---|---|\n" + "\n".join(rows) + "\n"


def _command(name: str) -> str:
    return f"# qifsql {_typed(name)}\n\n{_summary(name)}\n\n```text\n{_help(_typed(name))}\n```\n"


def _python() -> str:
    """Return the public functions and classes with their documentation."""
    parts = ["# Python\n\nEach command is a function of the same name.\n"]
    for name in sorted(qifsql.__all__):
        if name.startswith("_"):
            continue
        thing = getattr(qifsql, name)
        try:
            signature = re.sub(r"qifsql\.[\w.]*\.(\w+)", r"\1", str(inspect.signature(thing)))
            signature = re.sub(r"<function (\w+) at 0x\w+>", r"\1", signature)
            signature = re.sub(r"\*<class '(\w+)'>", r"Unpack[\1]", signature)
        except ValueError:
            signature = ""
        parts.append(f"## {name}\n\n```python norun\nqifsql.{name}{signature}\n```\n")
        parts.append(f"```text\n{inspect.getdoc(thing) or ''}\n```\n")
    return "\n".join(parts)


def _measures() -> str:
    """Return what ``qifsql explain`` says of each measure."""
    parts = ["# Measures\n\nWhat `qifsql explain MEASURE` says.\n"]
    for measure in qifsql.explain():
        lines = [f"## {measure.title} {{#{measure.name}}}\n", f"{measure.meaning}\n"]
        lines.append(f"- **Formula**: {measure.formula}")
        lines += [f"    - {symbol}" for symbol in measure.symbols]
        lines.append(f"- **Direction**: {measure.direction}")
        lines.append(f"- **Range**: {measure.range}")
        lines += [f"- **Note**: {note}" for note in measure.notes]
        if measure.columns:
            lines.append(f"- **Columns**: {', '.join(f'`{c}`' for c in measure.columns)}")
        lines.append(f"- **Source**: {measure.source}")
        example = "\n".join(measure.example)
        parts.append("\n".join(lines) + f"\n\n```text\n{example}\n```\n")
    return "\n".join(parts)


def _columns() -> str:
    """Return the columns of all tables of results, with what the code says of them."""
    meanings = {c: m.name for m in qifsql.explain() for c in m.columns}
    parts = ["# Columns of results\n"]
    for file in sorted(PACKAGE.rglob("*.py")):
        for name, columns, doc in _schemas(file):
            home = file.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
            rows = [
                f"| `{column}` | {kind} | {_link(meanings.get(column))} |"
                for column, kind in columns.items()
            ]
            head = f"## {home}.{name}\n\n" + (f"{doc}\n\n" if doc else "")
            table = "| column | type | measure |\n|---|---|---|\n" + "\n".join(rows)
            parts.append(f"{head}{table}\n")
    return "\n".join(parts)


def _link(measure: str | None) -> str:
    return "" if measure is None else f"[{measure}](measures.md#{measure})"


def _schemas(file: Path) -> Iterator[tuple[str, dict[str, pl.DataType], str]]:
    """Yield the documented tables of columns of a module: name, columns, documentation."""
    code = file.read_text("utf-8")
    if SCHEMA not in code:
        return
    tree = ast.parse(code)
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if ast.unparse(node.annotation) != SCHEMA:
            continue
        home = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        columns = getattr(import_module(home), node.target.id)
        text = after.value if isinstance(after, ast.Expr) else None
        doc = inspect.cleandoc(text.value) if isinstance(text, ast.Constant) else ""
        yield node.target.id, columns, doc


def _studies() -> str:
    """Return the keys of a study."""
    tables = {
        "datasets.NAME": forms.DATASET,
        "collections.NAME": forms.COLLECTION,
        "output": forms.OUTPUT,
        **{kind: forms.of_entry(kind) for kind in forms.ENTRIES},
    }
    parts = ["# Studies\n\nThe keys of `STUDY.toml` for `qifsql run`, and what each holds.\n"]
    for name, keys in tables.items():
        options = declared(forms.options_of(name) if name in forms.ENTRIES else Options)
        texts = {key: description(option, options) for key, option in options.items()}
        rows = [
            f"| `{key}` | {form.says} | {_cell(texts.get(key, ''))} |" for key, form in keys.items()
        ]
        head = f"## `{name}`\n\n| key | value | what it is |\n|---|---|---|\n"
        parts.append(head + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _cell(text: str) -> str:
    """Return a text for a cell of a table of Markdown."""
    return re.sub(r"([|*<])", r"\\\1", text)


def _policies() -> str:
    """Return the format of a policy."""
    return f"# Policies\n\n{inspect.cleandoc(policies.__doc__ or '')}\n"


def overview() -> str:
    """Return ``llms.txt``: all pages by their titles, for programs that read the documentation."""
    lines = ["# qifsql", "", "> How much a release of personal records gives away, in numbers.", ""]
    for page in sorted(HERE.parent.rglob("*.md")):
        title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.M)
        place = page.relative_to(HERE.parent).as_posix()
        lines.append(f"- [{title[1] if title else place}]({place})")
    lines.append(f"- [JSON schema of results]({result_schema.PLACE})")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write all pages, the schema of results, and the overview."""
    for name, text in pages().items():
        place = HERE / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    result_schema.main()
    (HERE.parent / "llms.txt").write_text(overview(), "utf-8")


if __name__ == "__main__":
    main()
