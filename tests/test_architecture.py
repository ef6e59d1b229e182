"""The rooms of the house, checked from the imports: a line imports only what stands above it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "qifsql"

# Each line may import only what stands above it. A name with a star is every module of a package,
# which may import one another (no circles). A module that is not here has no room yet.
ROOMS = (
    *(
        "errors",
        "leftovers",
        "inputs",
        "toml_lines",
        "dataset",
        "collection",
        "models",
        "gains",
        "expressions",
        "datatypes",
        "relation",
        "templates",
        "plan",
    ),
    *(
        "splice",
        "spec",
        "catalog",
        "listing",
        "coarsenings",
        "naming",
        "roles",
        "targets",
        "stakes",
        "binding",
    ),
    *("microdata", "asking", "steps", "compiler", "dialect"),
    *(
        "engine.settings",
        "engine.access",
        "engine.trouble",
        "engine.streams",
        "engine.checksums",
        "engine.ledger",
        "engine.duckdb",
        "engine.vetting",
    ),
    *("engine.writings", "engine.catalog", "engine.waves", "engine"),
    *("profile", "measures.*", "measures", "joining", "session", "export", "assessment", "wanted"),
    *("counts", "checks", "findings", "population", "assess", "coverage"),
    *("rules", "policy", "baseline", "checking"),
    *("sweep.*", "sweep"),
    *("partition", "objects", "refinement", "receipts", "description", "inspection", "prompt"),
    *("treatment.*", "treatment"),
    *("mechanisms.*", "mechanisms"),
    *("sanitise.*", "sanitise", "composition.*", "composition"),
    *("differential.*", "differential"),
    *("grading.*", "grading"),
    *("comparison.*", "comparison"),
    *("linkage.*", "linkage"),
    *(
        "demonstration",
        "explanation",
        "report.language",
        "report.words",
        "report.charts.*",
        "report.charts",
        "report.*",
        "report",
        "study.*",
        "study",
        "cli.*",
        "cli",
        "__main__",
    ),
)
IMPORTERS = {  # library -> the rooms that may import it
    "duckdb": ("engine",),
    "_duckdb": ("engine",),
    "typer": ("cli",),
    "click": ("cli",),
    "rich": ("report", "cli"),
    "altair": ("report",),
    "jinja2": ("report",),
    "markupsafe": ("report",),
    "vl_convert": ("report",),
}
VAGUE = {"utils", "util", "helpers", "helper", "misc", "base", "common", "core", "tools"}
SQL = re.compile(
    r"\s*(SELECT|WITH|FROM|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|ATTACH|DETACH|COPY|SET|DESCRIBE|"
    r"SUMMARIZE|EXPLAIN|PRAGMA|CALL|INSTALL|LOAD|EXPORT|IMPORT|VALUES|WHERE|GROUP|ORDER|JOIN)\s"
)


def name_of(file: Path) -> str:
    """The module's name below qifsql: ``engine.duckdb``; empty for qifsql itself."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in sorted(PACKAGE.rglob("*.py"))}
TREES = {
    name: ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    for name, file in MODULES.items()
}
INSIDE = [name for name in MODULES if name]


def room(module: str) -> int:
    """The place of a module in the order; -1 where it has none."""
    if module in ROOMS:
        return ROOMS.index(module)
    package = module.rpartition(".")[0]
    return ROOMS.index(f"{package}.*") if package and f"{package}.*" in ROOMS else -1


def absolute(node: ast.ImportFrom, module: str) -> str:
    """The full name of what a ``from`` statement imports from."""
    if not node.level:
        return node.module or ""
    here = ["qifsql", *module.split(".")] if module else ["qifsql"]
    if MODULES[module].name != "__init__.py":
        here.pop()
    here = here[: len(here) - node.level + 1]
    return ".".join([*here, node.module] if node.module else here)


def imports(module: str) -> Iterator[tuple[str, int]]:
    """All that a module imports, by full name, at its top or inside functions, and where."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = absolute(node, module)
            for alias in node.names:
                below = f"{source}.{alias.name}".removeprefix("qifsql.")
                yield (f"qifsql.{below}" if below in MODULES else source), node.lineno


def own_imports(module: str) -> Iterator[tuple[str, int]]:
    """The modules of qifsql that a module imports."""
    for found, line in imports(module):
        if found == "qifsql" or found.startswith("qifsql."):
            yield found.removeprefix("qifsql").removeprefix("."), line


@pytest.mark.parametrize("module", INSIDE)
def test_every_module_has_its_room(module: str) -> None:
    assert room(module) >= 0, f"{module} has no place in ROOMS"


@pytest.mark.parametrize("module", INSIDE)
def test_a_module_imports_only_from_rooms_above_it(module: str) -> None:
    upward = [
        f"{MODULES[module].name}:{line} imports {found}"
        for found, line in own_imports(module)
        if found and not room(found) < room(module) and not beside(found, module)
    ]
    assert not upward


def beside(found: str, module: str) -> bool:
    """Whether both are in a package of which all modules share one room."""
    return found != module and room(found) == room(module) and ROOMS[room(module)].endswith(".*")


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(
        {module: {found for found, _ in own_imports(module) if found} for module in INSIDE}
    ).prepare()  # raises CycleError


@pytest.mark.parametrize("module", INSIDE)
def test_of_the_package_itself_modules_import_only_the_version(module: str) -> None:
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.ImportFrom) and absolute(node, module) == "qifsql":
            names = {alias.name for alias in node.names} - {n.split(".")[0] for n in INSIDE}
            assert names <= {"__version__"}


@pytest.mark.parametrize("module", INSIDE)
def test_no_import_is_hidden_from_running_code(module: str) -> None:
    hidden = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(TREES[module])}
    assert "TYPE_CHECKING" not in hidden


@pytest.mark.parametrize("library", IMPORTERS)
def test_a_library_is_imported_in_its_rooms_alone(library: str) -> None:
    importers = {
        module
        for module in MODULES
        for found, _ in imports(module)
        if found.partition(".")[0] == library
    }
    assert {m for m in importers if m.partition(".")[0] not in IMPORTERS[library]} == set()


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not {part for module in MODULES for part in module.split(".")} & VAGUE


def test_importing_qifsql_imports_nothing_heavy() -> None:
    code = (
        "import sys, qifsql; "
        "print(*{m.split('.')[0] for m in sys.modules} & "
        "{'duckdb', 'polars', 'pyarrow', 'rich', 'sqlglot', 'typer'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def public(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Public functions and classes, and public methods of public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                yield from (
                    (f"{node.name}.{method.name}", method)
                    for method in node.body
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
                )


@pytest.mark.parametrize("module", MODULES)
def test_every_module_and_all_that_is_public_in_it_is_documented(module: str) -> None:
    assert ast.get_docstring(TREES[module]), f"{module} has no docstring"
    bare = [
        name
        for name, node in public(TREES[module])
        if not ast.get_docstring(node)  # type: ignore[arg-type]
    ]
    assert not bare


def glued(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Texts that start like SQL and are joined with something: f-strings, +, % and format."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            first = node.values[0] if node.values else None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            first = node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            first = node.func.value if node.func.attr in ("format", "join") else None
        else:
            continue
        if isinstance(first, ast.Constant) and SQL.match(str(first.value)):
            yield str(first.value), node.lineno


# A rendered tree stands after the word that says what to do with it: where DDL and settings take
# no parameters, and where the engine describes or copies the result of a statement.
ALLOWED = {
    "prompt": {"SET schema = "},
}


@pytest.mark.parametrize("module", MODULES)
def test_no_sql_is_glued_from_texts(module: str) -> None:
    found = {text for text, _ in glued(TREES[module])}
    assert found <= ALLOWED.get(module, set())


def test_the_rules_see_what_they_forbid() -> None:
    """A rule that finds nothing may be blind: each is shown a breach."""
    breach = ast.parse('f"SELECT {name}"; "SELECT " + name; "DROP %s" % name; "FROM {}".format(x)')
    assert len(list(glued(breach))) == 4
    assert not list(glued(ast.parse('f"{n} SELECT"; "Selected " + n; "SELECT 1"; f"copy {n}"')))
    assert room("engine.duckdb") > room("dialect")
    assert room("measures.bayes") == room("measures.gain") >= 0
    assert room("helpers") == -1
    assert {"qifsql.dialect", "qifsql.errors"} <= {found for found, _ in imports("engine.duckdb")}
    assert "duckdb" in {found for found, _ in imports("engine.trouble")}
