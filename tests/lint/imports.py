"""The rooms of the house: who may import whom."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter

from lint.project import Finding, Module, Project, Rule

ROOMS = (  # from the ground up: a module imports from its own room and those before it
    *(
        "errors",
        "reference",
        "measures",
        "data",
        "adversary",
        "query",
        "engine",
        "counting",
    ),
    *("presentation", "results", "study", "options", "commands", "app", "__main__"),
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
    "jinja2": ("presentation", "query.shapes", "commands.explain.examples.templates"),
    "markupsafe": ("presentation",),
    "vl_convert": ("presentation",),
    "starlette": ("commands.open.server",),
    "uvicorn": ("commands.open.open",),
    "highspy": ("counting.integer_programs",),
    "statsmodels": ("commands.compare.analyses.regression",),
}
IN_ONE_ROOM = {"engine.duckdb": "engine"}  # module -> the room that may import it
OF_THE_PACKAGE = ("__version__", *ROOMS)  # what modules may import from qifsql itself
BY_NAME = {"results.kinds", "study.forms"}  # they import from the room of a command by its name


@dataclass(frozen=True)
class Import:
    """One name that a module imports: from what, by full name, and where."""

    module: Module
    source: str
    name: str
    line: int

    @property
    def own(self) -> str | None:
        """Return the module of qifsql that is imported, below it; None for all others."""
        package, _, below = self.source.partition(".")
        return below if package == "qifsql" else None

    def wrong(self, why: str) -> Finding:
        """Return the finding that this may not be imported here."""
        return Finding(self.module.file, self.line, f"imports {self.source}: {why}")


@cache
def imports(project: Project) -> list[Import]:
    """Return all that the modules of the package import, at their top or inside functions."""
    found = []
    for module in project.modules.values():
        for node in module.nodes(ast.Import):
            found += [Import(module, alias.name, "", node.lineno) for alias in node.names]
        for node in module.nodes(ast.ImportFrom):
            source = absolute(node, module)
            for alias in node.names:
                below = f"{source}.{alias.name}".removeprefix("qifsql.")
                full = f"qifsql.{below}" if below in project.modules else source
                found.append(Import(module, full, alias.name, node.lineno))
        for call in module.nodes(ast.Call):
            if (name := imported_by_name(call)) and isinstance(call.args[0], ast.Constant):
                found.append(Import(module, name, "", call.lineno))
    return found


def imported_by_name(call: ast.Call) -> str:
    """Return what ``import_module`` imports, up to what is filled in; empty for other calls."""
    if getattr(call.func, "id", getattr(call.func, "attr", "")) != "import_module":
        return ""
    name = call.args[0] if call.args else None
    first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else name
    return str(first.value) if isinstance(first, ast.Constant) else ""


def absolute(node: ast.ImportFrom, module: Module) -> str:
    """Return the full name of what a ``from`` statement imports from."""
    if not node.level:
        return node.module or ""
    here = ["qifsql", *module.name.split(".")] if module.name else ["qifsql"]
    if not module.is_package:
        here.pop()
    here = here[: len(here) - node.level + 1]
    return ".".join([*here, node.module] if node.module else here)


def own_imports(project: Project) -> Iterator[tuple[Import, str]]:
    """Yield what the modules below qifsql import of one another, with its name below qifsql."""
    for each in imports(project):
        if each.own and each.module.name:
            yield each, each.own


def room(module: str) -> str:
    """Return the room of a module: a folder of qifsql, or a module beside them."""
    return module.partition(".")[0]


def command(module: str) -> str:
    """Return the command in whose room a module is; empty where it is in none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "commands" and len(parts) > 1 else ""


def is_above(one: str, other: str) -> bool:
    """Return whether the room of a module is above that of another."""
    heights = [ROOMS.index(name) for name in (room(one), room(other)) if name in ROOMS]
    return len(heights) == 2 and heights[0] > heights[1]


def a_module_is_in_a_room(project: Project) -> Iterator[Finding]:
    """Find modules in no room, and rooms without a module."""
    inside = {name: m for name, m in project.modules.items() if name}
    for name, module in inside.items():
        if room(name) not in ROOMS:
            yield Finding(module.file, 1, f"{room(name)} is no room: add it to ROOMS")
    for missing in set(ROOMS) - set(map(room, inside)):
        yield Finding("qifsql/__init__.py", 1, f"the room {missing} is empty")


def a_room_imports_what_is_below_it(project: Project) -> Iterator[Finding]:
    """Find imports from rooms above."""
    for each, own in own_imports(project):
        if is_above(own, each.module.name):
            yield each.wrong("its room is above this one")


def a_command_is_used_by_its_front_doors(project: Project) -> Iterator[Finding]:
    """Find imports from inside another command."""
    for each, own in own_imports(project):
        mine, theirs = command(each.module.name), command(own)
        doors = {f"commands.{theirs}.{name}" for name in (theirs, *FRONT_DOORS)}
        if mine and theirs and mine != theirs and own not in doors:
            yield each.wrong("what two commands need moves down")


def no_module_imports_itself(project: Project) -> Iterator[Finding]:
    """Find circles of modules."""
    arrows: dict[str, set[str]] = defaultdict(set)
    for each, own in own_imports(project):
        arrows[each.module.name].add(own)
    for circle in circles(arrows):
        file = project.modules[circle[0]].file
        yield Finding(file, 1, f"imports itself: {' <- '.join(circle)}")


def no_room_imports_itself(project: Project) -> Iterator[Finding]:
    """Find circles of rooms, each command a room of its own."""
    arrows: dict[str, set[str]] = defaultdict(set)
    for each, own in own_imports(project):
        mine, theirs = (command(name) or room(name) for name in (each.module.name, own))
        arrows[mine] |= {theirs} - {mine}
    for circle in circles(arrows):
        yield Finding("qifsql", 1, f"the room {circle[0]} imports itself: {' <- '.join(circle)}")


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return a circle, if there is one."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as e:
        return [e.args[1]]
    return []


def of_the_package_only_rooms_are_imported(project: Project) -> Iterator[Finding]:
    """Find public functions that are imported from qifsql itself: it is above all rooms."""
    for each in imports(project):
        if each.module.name and each.source == "qifsql" and each.name not in OF_THE_PACKAGE:
            yield each.wrong(f"import {each.name or 'modules'} from the room where it is")


def no_import_is_hidden(project: Project) -> Iterator[Finding]:
    """Find imports for type checkers alone, and imports by name from rooms above."""
    for module in project.modules.values():
        if module.name:
            for node in module.nodes(ast.Name, ast.Attribute):
                if getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING":
                    yield Finding(module.file, node.lineno, "TYPE_CHECKING hides an import")
            for call in module.nodes(ast.Call):
                package, _, below = imported_by_name(call).partition(".")
                hidden = package == "qifsql" and is_above(below, module.name)
                if hidden and module.name not in BY_NAME:
                    message = f"import_module hides an import from {room(below)}, which is above"
                    yield Finding(module.file, call.lineno, message)


def a_library_is_imported_in_its_rooms(project: Project) -> Iterator[Finding]:
    """Find imports of libraries, and of engines, elsewhere."""
    for each in imports(project):
        name = each.module.name
        places = IMPORTERS.get(each.source.partition(".")[0])
        if places and not any(fnmatch(name, place) or room(name) == place for place in places):
            yield each.wrong(f"only {', '.join(places)} may")
        home = IN_ONE_ROOM.get(each.own or "")
        if home and room(name) != home:
            yield each.wrong(f"only {home} may")


def the_reference_stands_alone(project: Project) -> Iterator[Finding]:
    """Find imports of the reference from what it is compared with, and from libraries."""
    for each in imports(project):
        if room(each.module.name) == "reference":
            alone = room(each.own) in ("reference", "errors") if each.own else _standard(each)
            if not alone:
                yield each.wrong("definitions use nothing that they are compared with")


def _standard(each: Import) -> bool:
    return each.source.partition(".")[0] in sys.stdlib_module_names


RULES: Iterable[Rule] = (
    a_module_is_in_a_room,
    a_room_imports_what_is_below_it,
    a_command_is_used_by_its_front_doors,
    no_module_imports_itself,
    no_room_imports_itself,
    of_the_package_only_rooms_are_imported,
    no_import_is_hidden,
    a_library_is_imported_in_its_rooms,
    the_reference_stands_alone,
)
