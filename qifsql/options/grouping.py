"""Groups of options as parameters of a command, for typer to read.

A group is a dataclass of options that only the command line has, or the ``TypedDict`` of the
options of a function (``qifsql.data.option``). The command passes the latter to that function.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, is_typeddict

import typer

from qifsql.data import option as forms
from qifsql.data.option import Form, Option, declared, names
from qifsql.data.reading import ORDER, WORDS
from qifsql.engine.settings import Settings
from qifsql.options import runner, texts
from qifsql.options.shared_options import Limits
from qifsql.options.standard_input import standard_input
from qifsql.presentation.language import translated

_FORMS_BY_TYPE: Mapping[Any, tuple[Form, ...]] = {
    str | None: (
        *(forms.TEXT, forms.NAME, forms.CHANCE, forms.NUMBER, forms.SUPPRESSED, forms.SIZES),
        *(forms.COUNTS, forms.SECONDS, ORDER),
    ),
    list[str] | None: (
        *(forms.TEXTS, forms.NAMES, forms.GROUPS, forms.NUMBERS, forms.LABELS, WORDS),
        *(forms.TARGET, forms.HIERARCHIES, forms.OF_SECRETS),
    ),
    float | None: (forms.FLOAT, forms.SHARE),
    int | None: (forms.WHOLE, forms.DRAWN),
    Path | None: (forms.FILE, forms.WRITTEN, forms.STORE, forms.DATASET),
    bool: (forms.FLAG,),
}
TYPES = {form: type_ for type_, members in _FORMS_BY_TYPE.items() for form in members}
"""The type on the command line for each form without choices, which are texts."""
READERS: Mapping[Form, Callable[[Any], Any]] = {
    forms.NAME: texts.unquoted,
    forms.GROUPS: texts.one_column,
    forms.NAMES: names,
    forms.NUMBERS: names,
    forms.COUNTS: texts.numbers,
    forms.SECONDS: texts.seconds,
    forms.LABELS: texts.labels,
}
"""Functions that read what was typed, by form; values of other forms stay as they are."""
OF_COLUMNS: Mapping[Form, tuple[str, Callable[..., Any]]] = {
    forms.TARGET: ("qids", texts.targets),
    forms.HIERARCHIES: ("qids", texts.hierarchies),
    forms.OF_SECRETS: ("secret", texts.hierarchies_of_secrets),
}
"""Forms whose texts are read with the names of columns: the option of these, and the reader."""

VALUES: Mapping[type, str] = {bool: "", int: "N", float: "X", Path: "PATH", list: "TEXT"}
"""The word for the value of an option in help texts, by its type."""
OPTIONAL_SHARE = "[SHARE]"
"""The word for a value that may be left out: it is 1 then (see ``typed_words``)."""

PANELS = (None, forms.ATTACK, forms.OPTIONS, forms.DETAILS, forms.DATA, forms.RUN, forms.LIMITS)
"""The order of panels in help texts: arguments (None), the question, and so on."""


@dataclass(frozen=True)
class _Group:
    """A parameter of a command, which may be a group of options.

    ``members`` are its options as typer reads them, ``declared`` those that a function declares.
    ``build`` takes their values out of what was typed, and returns the value of the parameter.
    """

    members: Sequence[inspect.Parameter]
    declared: Mapping[str, Option]
    build: Callable[[dict[str, Any]], Any]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its groups as parameters, for typer to read.

    Its attribute ``renamed`` maps flags that options had before to those of today.
    """
    parameters = inspect.signature(command).parameters.values()
    groups = {p.name: _group(p) for p in parameters if p.annotation != runner.Tell}
    options = {n: option for group in groups.values() for n, option in group.declared.items()}
    renamed = {o.formerly: flags(n, o)[0] for n, o in options.items() if o.formerly}
    members = [member for group in groups.values() for member in group.members]
    members = [
        member.replace(
            kind=inspect.Parameter.KEYWORD_ONLY, annotation=_translated(member.annotation)
        )
        for member in sorted(members, key=_place_in_help)
    ]

    @functools.wraps(command)
    def run(**typed: Any) -> None:
        """Run the command with a group for the options that are its fields."""
        temp = typed.get("temp")
        arguments = {name: group.build(typed) for name, group in groups.items()}
        with standard_input(temp):
            runner.run(command, arguments, options)

    run.__doc__ = translated(inspect.cleandoc(command.__doc__ or ""))
    run.__signature__ = inspect.Signature(members)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in members}
    run.renamed = renamed  # type: ignore[attr-defined]
    return run


def _group(parameter: inspect.Parameter) -> _Group:
    """Return a parameter as a group: of declared options, of the fields of a class, or of itself.

    A group may have groups as fields.
    """
    kind: Any = Limits if parameter.annotation is Settings else parameter.annotation
    if is_typeddict(kind):
        typed = {n: option for n, option in declared(kind).items() if option.typed}
        needed = kind.__required_keys__
        members = [_parameter(n, option, needed=n in needed) for n, option in typed.items()]
        return _Group(
            members, typed, lambda words: arguments(typed, {n: words.pop(n) for n in typed})
        )
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return _Group([parameter], {}, lambda words: words.pop(parameter.name))
    fields = {name: _group(field) for name, field in inspect.signature(kind).parameters.items()}
    return _Group(
        [member for field in fields.values() for member in field.members],
        {name: option for field in fields.values() for name, option in field.declared.items()},
        lambda words: kind(**{name: field.build(words) for name, field in fields.items()}),
    )


def _place_in_help(parameter: inspect.Parameter) -> tuple[int, bool]:
    """Return the sort key of a parameter in help texts: its panel; in it, required ones first."""
    options = (n for n in get_args(parameter.annotation) if isinstance(n, typer.models.OptionInfo))
    option = next(options, None)
    if option is None:
        return PANELS.index(None), False
    panel = option.rich_help_panel if option.rich_help_panel in PANELS else forms.OPTIONS
    return PANELS.index(panel or forms.OPTIONS), parameter.default is not inspect.Parameter.empty


def _translated(annotation: Any) -> Any:
    """Return the annotation of a parameter with its help translated, and a word for its value."""
    type_, *infos = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    infos = [copy(info) for info in infos]  # commands share them, so they must not change
    for info in infos:
        if isinstance(info, typer.models.ParameterInfo):
            info.help = info.help and translated(info.help)
            info.rich_help_panel = info.rich_help_panel and translated(info.rich_help_panel)
        if isinstance(info, typer.models.OptionInfo) and info.metavar is None:
            types = {get_origin(t) or t for t in (*get_args(type_), type_)}
            info.metavar = next((word for t, word in VALUES.items() if t in types), "TEXT")
    return Annotated[type_, *infos] if infos else annotation


def _parameter(name: str, option: Option, *, needed: bool) -> inspect.Parameter:
    """Return an option as a parameter of a command: ``needed``, or with a default as it is typed.

    The default is None where the function's own applies.
    """
    form = option.form
    type_ = str if form.choices else TYPES[form]
    default = option.default if option.default not in ((), {}) else None
    if form is forms.COUNTS and default is not None:
        default = ",".join(map(str, default))
    if form is forms.SUPPRESSED:
        default = None
    if needed or default is not None:  # it is never None
        type_ = next((t for t in get_args(type_) if t is not NoneType), type_)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else default,
        annotation=Annotated[type_, _typer_option(name, option)],
    )


def _typer_option(name: str, option: Option) -> Any:
    """Return an option as typer declares it, with its flags and help text."""
    return typer.Option(
        *flags(name, option),
        help=option.help,
        rich_help_panel=option.panel,
        min=option.least,
        show_default="default" not in option.help,
        metavar=OPTIONAL_SHARE if option.form is forms.SUPPRESSED else None,
    )


def flags(name: str, option: Option) -> tuple[str, ...]:
    """Return the flags of an option on the command line."""
    return option.flags or (f"--{name.replace('_', '-')}",)


def single_option(options: type, name: str) -> Any:
    """Return one declared option for typer, for a command without the rest of its group."""
    return _typer_option(name, declared(options)[name])


def arguments(options: Mapping[str, Option], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return typed values as arguments of the function that declares the options.

    Options that were not typed, which are None, are left out. Forms of ``OF_COLUMNS`` name columns
    that another option declares, so they are read last, with the value of that option.
    """
    form_of = {name: options[name].form for name, value in typed.items() if value is not None}
    arguments: dict[str, Any] = {}
    for name, form in form_of.items():
        read_text = READERS.get(form)
        arguments[name] = read_text(typed[name]) if read_text else typed[name]
    for name, form in form_of.items():
        if form in OF_COLUMNS:
            columns, read = OF_COLUMNS[form]
            arguments[name] = read(arguments[name], arguments.get(columns, ()))
    return arguments
