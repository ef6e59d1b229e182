"""Groups of options as parameters of a command, for typer to read.

A group is a dataclass of options that only the command line has, or the ``TypedDict`` of the
options of a function (``qifsql.data.option``). The command passes the latter to that function.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import is_dataclass
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

Group = Callable[[dict[str, Any]], object]
"""A function that takes its options out of what was typed, and returns a parameter's value."""

VALUES: Mapping[type, str] = {bool: "", int: "N", float: "X", Path: "PATH", list: "TEXT"}
"""The word for the value of an option in help texts, by its type."""
OPTIONAL_SHARE = "[SHARE]"
"""The word for a value that may be left out: it is 1 then (see ``typed_words``)."""

PANELS = (None, forms.ATTACK, forms.OPTIONS, forms.DETAILS, forms.DATA, forms.RUN, forms.LIMITS)
"""The order of panels in help texts: arguments (None), the question, and so on."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its groups as parameters, for typer to read.

    Its attribute ``renamed`` maps flags that options had before to those of today.
    """
    options: dict[str, Option] = {}
    groups: dict[str, Group] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.annotation == runner.Tell:
            continue
        members, group = _members(parameter, options)
        groups |= {} if group is None else {parameter.name: group}
        parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in members]
    renamed = {o.formerly: flags(n, o)[0] for n, o in options.items() if o.formerly}
    parameters = [
        p.replace(annotation=_translated(p.annotation))
        for p in sorted(parameters, key=_place_in_help)
    ]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        """Run the command with a group for the arguments that are its fields."""
        temp = arguments.get("temp")
        for name, group in groups.items():
            arguments[name] = group(arguments)
        with standard_input(temp):
            runner.run(command, arguments, options)

    run.__doc__ = translated(inspect.cleandoc(command.__doc__ or ""))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.renamed = renamed  # type: ignore[attr-defined]
    return run


def _members(
    parameter: inspect.Parameter, options: dict[str, Option]
) -> tuple[list[inspect.Parameter], Group | None]:
    """Return the options of a parameter, and the function that builds its value from typed words.

    The function is None if the parameter is an option itself. A group may have groups as fields.
    The declared options of a function are added to ``options``.
    """
    group: Any = Limits if parameter.annotation is Settings else parameter.annotation
    if is_typeddict(group):
        typed = {n: option for n, option in declared(group).items() if option.typed}
        options |= typed
        needed = group.__required_keys__
        members = [_parameter(n, option, needed=n in needed) for n, option in typed.items()]
        return members, lambda words: arguments(typed, {n: words.pop(n) for n in typed})
    if not (isinstance(group, type) and is_dataclass(group)):
        return [parameter], None
    fields = inspect.signature(group).parameters
    parts = {name: _members(field, options) for name, field in fields.items()}

    def build(words: dict[str, Any]) -> object:
        values = {n: make(words) if make else words.pop(n) for n, (_, make) in parts.items()}
        return group(**values)

    return [member for members, _ in parts.values() for member in members], build


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
