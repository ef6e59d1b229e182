"""The rooms of the house, checked from the imports: a room imports only what is below it."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

from places import PACKAGE, TESTS

import qifsql
from qifsql.commands import NAMES

# The rooms from the ground up: a module imports from its own room and those below it.
ROOMS = (
    *("errors", "extras", "measures", "data", "adversary", "query", "engine", "results"),
    *("counting", "study", "presentation", "options", "commands", "app", "__main__"),
)
FRONT_DOORS = ("view", "result")  # what other commands may use of one, beside its own function
IMPORTERS = {  # library -> the rooms that may import it
    "duckdb": ("engine",),
    "_duckdb": ("engine",),
    "pyspark": ("engine.spark",),
    "py4j": ("engine.spark",),
    "typer": ("options", "app", "commands.*.cli", "commands.*.*.options"),
    "click": ("options", "app"),
    "rich": ("presentation", "options"),
    "altair": ("presentation",),
    "jinja2": ("presentation",),
    "markupsafe": ("presentation",),
    "vl_convert": ("presentation",),
    "starlette": ("commands.open.server",),
    "uvicorn": ("commands.open.open",),
    "highspy": ("commands.tables.integer_programs",),
}
# The files that rooms have in common, by name, and the stems that several modules share, with why.
IN_EVERY_ROOM = ("bind", "charts", "cli", "result", "spec", "view")
SHARED_STEMS = {
    "coarsen": "coarser forms of a column, and which column of a sweep takes one first",
    "coverage": "columns that no rule covers: the table of them, and how they are measured",
    "errors": "the tree of all errors, and which of them the engine's own become",
    "plan": "the steps of a query, and the passes of a sweep with what they cost",
    "steps": "steps of a plan, and those of them that levels has of its own",
    "tables": "tables that are made, remembered and dropped: of an engine, and of a sweep",
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
NOUN_CLAUSE = re.compile(r"(What|How|Whether|Where|Who|Which|When|That)(ever|m|se)?\b")

TREES = {
    name: ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    for name, file in MODULES.items()
}
INSIDE = [name for name in MODULES if name]


def room(module: str) -> str:
    """The room of a module: a folder of qifsql, or a module beside them."""
    return module.partition(".")[0]


def command(module: str) -> str:
    """The command in whose room a module is; empty where it is in none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "commands" and len(parts) > 1 else ""


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


def test_every_module_is_in_a_room() -> None:
    assert {room(module) for module in INSIDE} == set(ROOMS)


def test_a_module_imports_only_from_its_room_and_those_below() -> None:
    upward = [
        f"{module}:{line} imports {other}"
        for module in INSIDE
        for other, line in own_imports(module)
        if other and ROOMS.index(room(other)) > ROOMS.index(room(module))
    ]
    assert not upward


def test_a_command_uses_of_another_its_function_and_its_view_alone() -> None:
    inside = []
    for module in INSIDE:
        for other, line in own_imports(module):
            mine, theirs = command(module), command(other)
            doors = {f"commands.{theirs}.{name}" for name in (theirs, *FRONT_DOORS)}
            if mine and theirs and mine != theirs and other not in doors:
                inside.append(f"{module}:{line} imports {other}")
    assert not inside


def test_a_command_is_a_room_of_its_name() -> None:
    """Its folder holds the function of its name, which Python has, too, and how it is asked."""
    missing = []
    for name in NAMES:
        modules = (f"commands.{name}.{name}", f"commands.{name}.cli")
        missing += [module for module in modules if module not in MODULES]
        if qifsql._HOMES[name] != modules[0]:
            missing.append(f"qifsql.{name}")
        if not list((TESTS / "commands" / name).glob("test_*.py")):
            missing.append(f"tests/commands/{name}")
    folders = {p.name for p in (PACKAGE / "commands").iterdir() if (p / "__init__.py").is_file()}
    assert not missing
    assert folders == set(NAMES)


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(
        {module: {other for other, _ in own_imports(module) if other} for module in INSIDE}
    ).prepare()  # raises CycleError


def test_no_room_imports_itself_by_way_of_others() -> None:
    arrows: dict[str, set[str]] = {}
    for module in INSIDE:
        mine = command(module) or room(module)
        others = {command(other) or room(other) for other, _ in own_imports(module) if other}
        arrows.setdefault(mine, set()).update(others - {mine})
    TopologicalSorter(arrows).prepare()  # raises CycleError


def test_of_the_package_itself_modules_import_only_the_version_and_rooms() -> None:
    names = {
        f"{module} imports {alias.name}"
        for module in INSIDE
        for node in ast.walk(TREES[module])
        if isinstance(node, ast.ImportFrom) and absolute(node, module) == "qifsql"
        for alias in node.names
        if alias.name != "__version__" and alias.name not in ROOMS
    }
    assert not names


def test_no_import_is_hidden_from_running_code() -> None:
    hiding = [
        module
        for module in INSIDE
        for node in ast.walk(TREES[module])
        if getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING"
    ]
    assert not hiding


def test_a_library_is_imported_in_its_rooms_alone() -> None:
    elsewhere = [
        f"{module} imports {library}"
        for library, places in IMPORTERS.items()
        for module in MODULES
        for other, _ in imports(module)
        if other.partition(".")[0] == library
        and not any(fnmatch(module, place) or room(module) == place for place in places)
    ]
    assert not elsewhere


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not {part for module in MODULES for part in module.split(".")} & VAGUE


def stem(module: str) -> str:
    """The name of a module itself, without its rooms."""
    return module.rpartition(".")[2]


def test_a_stem_is_used_once() -> None:
    """Files of every room apart, and the examples of ``explain``, which bear names of measures."""
    stems = Counter(
        stem(module)
        for module in INSIDE
        if stem(module) not in IN_EVERY_ROOM
        and MODULES[module].name != "__init__.py"
        and not module.startswith("commands.explain.examples.")
    )
    assert {name for name, times in stems.items() if times > 1} <= set(SHARED_STEMS)


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


def test_every_module_and_all_that_is_public_in_it_is_documented() -> None:
    bare = [module for module, tree in TREES.items() if not ast.get_docstring(tree)]
    bare += [
        f"{module}.{name}"
        for module, tree in TREES.items()
        for name, node in public(tree)
        if not ast.get_docstring(node)  # type: ignore[arg-type]
    ]
    assert not bare


def clauses(tree: ast.Module) -> Iterator[str]:
    """Docstrings, those of attributes too, that open with a noun clause."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str) and NOUN_CLAUSE.match(text):
                yield text.splitlines()[0]


def test_no_docstring_opens_with_a_noun_clause() -> None:
    """Functions open with an imperative verb (D401), all others with what they are called."""
    folders = (PACKAGE, TESTS, TESTS.parent / "docs", TESTS.parent / "benchmarks")
    modules = [module for folder in folders for module in folder.rglob("*.py")]
    assert len(modules) > len(TREES)
    found = {str(m): list(clauses(ast.parse(m.read_text("utf-8")))) for m in modules}
    assert not {module: texts for module, texts in found.items() if texts}
    assert len(list(clauses(ast.parse('"""What it is."""\nx = 1\n"""Where it is."""')))) == 2


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


PARSED = {  # what sqlglot parses where it gets a text: the arguments that may be one
    **dict.fromkeys(("select", "where", "from_", "group_by", "order_by", "having"), None),
    **dict.fromkeys(("and_", "or_", "not_", "join"), None),
    **dict.fromkeys(("alias_", "cast", "condition", "maybe_parse", "parse_one"), 1),
}


def is_glued(node: ast.AST) -> bool:
    """Return whether a text is joined here; not in what is called, which has a rule of its own."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        sides = (node.left, node.right)
        if any(isinstance(s, ast.Constant) and isinstance(s.value, str) for s in sides):
            return True
    if isinstance(node, ast.Call):
        return (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in ("format", "join", "replace")
            and isinstance(node.func.value, ast.Constant)
        )
    return any(is_glued(child) for child in ast.iter_child_nodes(node))


def glued_arguments(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Texts that are joined and given to what parses them as SQL, by a name of theirs or not."""
    bodies = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    alone = [n for n in tree.body if not isinstance(n, ast.FunctionDef | ast.ClassDef)]
    for body in [*bodies, *alone]:
        texts = {
            target.id
            for node in ast.walk(body)
            if isinstance(node, ast.Assign) and is_glued(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(body):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            name = node.func.attr
            if name not in PARSED or isinstance(node.func.value, ast.Constant):  # ", ".join(...)
                continue
            arguments = node.args[: PARSED[name]]
            arguments += [k.value for k in node.keywords if k.arg == "on"]
            for argument in arguments:
                inner = argument.value if isinstance(argument, ast.Starred) else argument
                if is_glued(inner) or (isinstance(inner, ast.Name) and inner.id in texts):
                    yield ast.unparse(argument), node.lineno


# A rendered tree stands after the word that says what to do with it: where DDL and settings take
# no parameters, and where the engine describes or copies the result of a statement.
ALLOWED = {
    ("commands.shell.shell", "SET schema = "),
    ("query.render", "WITH "),  # of texts that were rendered from trees
    ("query.render", "CREATE TABLE "),
}
ALLOWED_NAMES = {"f'{STORE}.main.{table}'"}  # full names of tables


def test_no_sql_is_glued_from_texts() -> None:
    found = {(module, text) for module, tree in TREES.items() for text, _ in glued(tree)}
    assert found <= ALLOWED
    parsed = [
        f"{module}:{line} parses {text}"
        for module, tree in TREES.items()
        for text, line in glued_arguments(tree)
        if text not in ALLOWED_NAMES
    ]
    assert not parsed


def test_only_the_engine_s_room_names_an_engine() -> None:
    backends = {"qifsql.engine.duckdb"}
    outside = [
        f"{module}:{line} imports {name}"
        for module in INSIDE
        if room(module) != "engine"
        for name, line in imports(module)
        if name in backends
    ]
    assert not outside


def test_the_rules_see_what_they_forbid() -> None:
    """A rule that finds nothing may be blind: each is shown a breach."""
    breach = ast.parse('f"SELECT {name}"; "SELECT " + name; "DROP %s" % name; "FROM {}".format(x)')
    assert len(list(glued(breach))) == 4
    assert not list(glued(ast.parse('f"{n} SELECT"; "Selected " + n; "SELECT 1"; f"copy {n}"')))
    breaches = (
        'q.where(f"{a}.x = 1")',
        'q.join(t, on=f"{a}.x = b.x")',
        'q.join(f"t_{i} AS u", on=tree)',
        'exp.select("x", *(f"x_{i} AS y" for i in xs))',
        'exp.select(["x_" + i for i in xs])',
        'q.from_("t_%s" % i)',
        'exp.alias_(f"{a} + 1", "x")',
        'exp.maybe_parse("{} + 1".format(a), dialect="duckdb")',
        'exp.and_("x", *[f"{a} = 1" for a in xs])',
        'def f(a):\n    on = f"{a}.x = b.x"\n    return q.join(t, on=on)',
        'def f(a):\n    columns = [f"x_{i}" for i in a]\n    return q.group_by(*columns)',
    )
    assert not [text for text in breaches if len(list(glued_arguments(ast.parse(text)))) < 1]
    fine = (
        'q.where("x = 1")',
        '", ".join(f"x_{i}" for i in xs)',
        'exp.select(exp.column(f"x_{i}"), "count(*) AS n").from_(exp.table_(f"t_{i}"))',
        'exp.alias_(tree, f"x_{i}")',
        'q.join(exp.table_("t", alias=f"t_{i}"), on=same(exp.column("x", f"t_{i}"), y))',
        'catalog.condition(tree, f"the filter of {name}")',
        'def f(a):\n    x = f"x_{a}"\n    return x\ndef g(x):\n    return q.select(x)',
    )
    assert not [text for text in fine if list(glued_arguments(ast.parse(text)))]
    assert command("commands.sweep.walk") == "sweep"
    assert {"qifsql.query.render", "qifsql.errors"} <= {n for n, _ in imports("engine.duckdb")}
    assert "duckdb" in {name for name, _ in imports("engine.errors")}


PARTICIPLES = frozenset(
    ("told", "found", "asked", "made", "known", "own", "mine", "wanted", "given", "said", "kept")
) | {"sent"}
KNOWN = ("arrays", "breakdown", "dimensions", "fit", "proofs", "spec", "table_sets", "tables")
FIXED = {  # keywords of public functions, and the function that translates
    ("commands.records.records", "told"),
    ("commands.run.run", "told"),
    ("commands.open.open", "told"),
    ("commands.start.start", "told"),
    ("commands.sweep.sweep", "told"),
    ("presentation.language", "said"),
    *((f"commands.tables.{name}", "known") for name in KNOWN),  # what the adversary knows
}


def bound(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """All names that a module binds: variables, parameters, functions, classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname, node.lineno


def test_a_name_is_a_noun_and_no_bare_participle_or_pronoun() -> None:
    bare = [
        f"{module}:{line} binds {name}"
        for module, tree in TREES.items()
        for name, line in bound(tree)
        if name.strip("_").casefold() in PARTICIPLES and (module, name) not in FIXED
    ]
    assert not bare
