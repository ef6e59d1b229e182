"""The messages of reports and their catalogue: ``python tests/messages.py`` brings it up to date.

Messages are found in the source itself: what ``said`` and ``counted`` of
``presentation/language.py`` are called with. A message that cannot be found so would stay English,
so it is an error. Babel's extractor for Python would find 494 of 936 messages: the others are in
tables, which are followed here from the call that looks a message up.
"""

import ast
import inspect
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, get_args

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment
from places import ROOT
from trees import parsed
from typer.models import ParameterInfo

from hatch_build import compile_catalogues
from qifsql import commands
from qifsql.options.grouping import grouped

PACKAGE = ROOT / "qifsql"
CATALOGUE = PACKAGE / "presentation" / "locale" / "pt_BR" / "LC_MESSAGES" / "qifsql.po"
ELSEWHERE = {  # messages that stand in other files
    "method.py": ("measure['title']", "measure['meaning']"),  # those of all explanations
    "chapters.py": ("view.TITLE",),
    "view.py": ("place", "preset['note']"),  # of presets of recipients
    "statement.py": ("place", "preset['note']"),
}
FUNCTIONS = {"said": 1, "counted": 2}  # how many of their arguments are messages

Message: TypeAlias = str | tuple[str, str]  # one text, or those of one and of many
Nodes: TypeAlias = Sequence[ast.AST]


def messages() -> dict[Message, list[str]]:
    """Every message, and the files that say it."""
    found: dict[Message, set[str]] = defaultdict(set)
    sources = {"*.py": of_module, "*.html": of_page, "measures.toml": of_explanations}
    sources["recipient_presets.toml"] = of_presets
    for pattern, messages_of in sources.items():
        for path in sorted(PACKAGE.rglob(pattern)):
            for message in messages_of(path):
                found[message].add(path.relative_to(ROOT).as_posix())
    for message in of_help():
        found[message].add("help")
    return {message: sorted(found[message]) for message in sorted(found, key=str)}


def of_help() -> Iterator[Message]:
    """The help texts of the commands that are translated, and the command line's own words."""
    yield from ("Examples:", "Arguments", "Options", "[default: {}]", "[required]")
    yield "Show this message and exit."
    for name in commands.TRANSLATED:
        module = import_module(f"qifsql.commands.{name}.cli")
        command = getattr(module, name)
        yield inspect.cleandoc(command.__doc__)
        yield from module.EXAMPLES
        for parameter in inspect.signature(grouped(command)).parameters.values():
            for note in get_args(parameter.annotation)[1:]:
                if isinstance(note, ParameterInfo):
                    yield from filter(None, (note.help, note.rich_help_panel))


def of_module(path: Path) -> Iterator[Message]:
    """The messages of a module that speaks; other modules may have functions of the same names."""
    tree = parsed(path.read_text("utf-8"))
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    known = [a.name for n in imports if n.module == "qifsql.presentation.language" for a in n.names]
    if path.name == "view.py":
        yield from (t for title in _given("TITLE", tree.body) for t in _texts(title, (), ()))
    for call, scope in _calls(tree, tree):
        if not isinstance(call.func, ast.Name) or call.func.id not in {*known} & {*FUNCTIONS}:
            continue
        texts = call.args[: FUNCTIONS[call.func.id]] or [call]
        if ast.unparse(texts[0]) in ELSEWHERE.get(path.name, ()):
            continue
        above = [n for n in ast.walk(scope) if getattr(n, "lineno", 0) < call.lineno]
        try:
            found = [tuple(_texts(text, above, tree.body)) for text in texts]
            together = list(zip(*found, strict=True))
        except ValueError as e:
            told = f"{path}:{call.lineno}: the message of {ast.unparse(call)} is not found"
            raise ValueError(told) from e
        yield from (one[0] if len(one) == 1 else (one[0], one[1]) for one in together)


def of_page(path: Path) -> Iterator[Message]:
    """The messages of a template."""
    template = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    for line, _, found in template.extract_translations(path.read_text("utf-8"), ["said"]):
        # with values: the message, and None for each of them
        message = found[0] if isinstance(found, tuple) else found
        if not isinstance(message, str):
            raise ValueError(f"{path}:{line}: no message is found")
        yield message


def of_explanations(path: Path) -> Iterator[Message]:
    """Titles and meanings of measures; line breaks are spaces."""
    for name, text in tomllib.loads(path.read_text("utf-8")).items():
        if name not in ("symbols", "works"):
            yield from (" ".join(text[key].split()) for key in ("title", "meaning"))


def of_presets(path: Path) -> Iterator[Message]:
    """The notes of presets of recipients, and the places of their values."""
    for preset in tomllib.loads(path.read_text("utf-8")).values():
        yield from (value["place"] for value in preset.values() if isinstance(value, dict))
        yield from (text for text in preset.values() if isinstance(text, str))


def _calls(node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.Call, ast.AST]]:
    """All calls, each with the function that it is in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, scope
        inside = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        yield from _calls(child, inside)


def _texts(node: ast.AST | None, above: Nodes, module: Nodes) -> Iterator[str]:
    """The texts that an expression may be: literals, or names that were given some above."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from (t for part in (one, other) for t in _texts(part, above, module))
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            yield from (t for part in parts for t in _texts(part, above, module))
        case ast.Subscript(value=whole) | ast.Starred(value=whole):
            yield from _texts(whole, above, module)
        case ast.Name(id=name):
            values = list(_given(name, above)) or list(_given(name, module)) or [None]
            yield from (t for value in values for t in _texts(value, above, module))
        case _:
            raise ValueError("this is no literal")


def _given(name: str, among: Nodes) -> Iterator[ast.AST | None]:
    """Yield the values of a name, in the order of lines; ``None`` if one is not written there."""
    for node in sorted(among, key=lambda n: getattr(n, "lineno", 0)):
        match node:
            case ast.ImportFrom(module=str(place), names=names) if place.startswith("qifsql."):
                for own in (one.name for one in names if (one.asname or one.name) == name):
                    path = ROOT.joinpath(*place.split(".")).with_suffix(".py")
                    yield from _given(own, parsed(path.read_text("utf-8")).body)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=True)
                yield from (v for n, v in pairs if isinstance(n, ast.Name) and n.id == name)
            case ast.Assign(targets=targets, value=value):
                known = [n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
                yield from (value if n in targets else None for n in known if n.id == name)
            case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name:
                yield value
            case ast.arg(arg=found) if found == name:
                yield None
            case ast.comprehension(target=ast.Name(id=found), iter=values) if found == name:
                yield values
            case ast.For() | ast.comprehension() | ast.AugAssign() | ast.NamedExpr():
                known = [n for n in ast.walk(node.target) if isinstance(n, ast.Name)]
                yield from (None for n in known if n.id == name)


def updated(catalogue: Catalog, said: Mapping[Message, Sequence[str]]) -> Catalog:
    """The catalogue with these messages and no others; translations stay, close ones are fuzzy."""
    template = Catalog()
    for message, paths in said.items():
        template.add(message, locations=[(path, 1) for path in paths])
    catalogue.update(template, update_creation_date=False)
    for entry in catalogue:
        entry.flags -= {"python-format"}  # "95 % confidence" is none
    return catalogue


if __name__ == "__main__":
    with CATALOGUE.open("rb") as source:
        current = updated(read_po(source, locale="pt_BR"), messages())
    with CATALOGUE.open("wb") as target:
        write_po(target, current, 100, sort_output=True, no_location=True, ignore_obsolete=True)
    compile_catalogues(ROOT)
    english = [entry.id for entry in current if entry.fuzzy or not "".join(entry.string or "")]
    print(f"{len(current)} messages; to be translated: {english or 'none'}")
