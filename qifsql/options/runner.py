"""Run a command: check the output, call, print notes, draw charts, show the answer, exit.

A command is a function of a room's ``cli.py``. Its parameters are groups of options, options of its
own, and what the runner gives it: ``settings: Settings`` (typed as ``Limits``) and ``tell: Tell``.
It returns an ``Answer``.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, is_typeddict

from qifsql.data.option import DATASET, DRAWN, STORE, WRITTEN, Form, Option
from qifsql.options import runtime
from qifsql.options.shared_options import (
    Auxiliary,
    Charts,
    Data,
    Limits,
    Output,
    Records,
    Summary,
    Talk,
)

Tell = Callable[[str], None]  # prints a note while the command runs, unless ``--quiet`` is given


@dataclass(frozen=True)
class Answer:
    """The result of a command, and how it is shown.

    ``title`` is that of pages. ``notes`` are printed after those of the result. ``text`` is printed
    as it is. ``aside``, ``view`` and ``prose`` are those of ``results.result.Display``; ``display``
    is one that a room makes. An answer that is not ``met`` (by default: the result is false) ends
    with exit code 4 and the words ``unmet`` on stderr. ``private``: a file of the result holds
    values of cells. ``finish`` is called once the result is shown, or its reader has stopped.
    """

    result: Any = None
    title: str = ""
    _: KW_ONLY
    notes: Sequence[str] = ()
    text: str = ""
    aside: Collection[str] = ()
    view: Callable[..., Any] | None = None
    prose: bool = False
    display: Any = None
    met: bool | None = None
    unmet: str = ""
    private: bool = False
    finish: Callable[[], None] | None = None


def _values_by_form(
    arguments: Mapping[str, Any], options: Mapping[str, Option]
) -> dict[Form, dict[str, Any]]:
    """Return the options that decide what is written, by form and name: files, drawn people."""
    values: dict[Form, dict[str, Any]] = {WRITTEN: {}, STORE: {}, DRAWN: {}}
    typed = [group for group in arguments.values() if isinstance(group, dict)]
    for name, value in chain.from_iterable(group.items() for group in typed):
        if value is not None and name in options and options[name].form in values:
            values[options[name].form][name] = value
    return values


def run(
    command: Callable[..., Answer | None],
    arguments: Mapping[str, Any],
    options: Mapping[str, Option],
) -> None:
    """Run a command with its arguments, and show its answer.

    ``options`` are the declared ones; their values are in those arguments that are dictionaries.
    """
    groups: dict[type, Any] = {type(group): group for group in arguments.values()}
    talk = groups.get(Limits) or groups[Talk]
    values = _values_by_form(arguments, options)
    is_folder = bool(values[DRAWN])  # the output: sheets of people, which the command writes
    output: Output | None = groups.get(Output)
    if not is_folder:
        output = _checked_output(groups, arguments.get("out"), values[WRITTEN])
    charts: Charts | None = groups.get(Charts)
    if charts is not None:
        charts.check()
    _fill_data_options(command, arguments, options)
    answer = _call(command, arguments, talk, values[STORE].values())
    if answer is None:
        return
    runtime.print_notes([*getattr(answer.result, "notes", ()), *answer.notes], quiet=talk.quiet)
    if charts is not None:
        charts.draw(command.__name__, answer.result, quiet=talk.quiet)
    if answer.text:
        from qifsql.options import show

        show.write(answer.text)
    if output is not None and answer.result is not None:
        _show(answer, replace(output, out=None) if is_folder else output, quiet=talk.quiet)


def _call(
    command: Callable[..., Answer | None],
    arguments: Mapping[str, Any],
    talk: Any,
    stores: Iterable[str | Path],
) -> Answer | None:
    """Return the answer of a command, which gets settings, and ``tell`` if it has a place for it.

    ``talk`` is the group of options that settings are made of. Notes name new files of ``stores``.
    """
    with ExitStack() as stack:
        for store in stores:
            stack.enter_context(runtime.noting_created(store, quiet=talk.quiet))
        supplies: dict[str, Any] = {}
        if "settings" in arguments:
            supplies["settings"] = stack.enter_context(talk.settings())
        if "tell" in command.__annotations__:
            supplies["tell"] = lambda note: runtime.print_notes([note], quiet=talk.quiet)
        return command(**{**arguments, **supplies})


def _fill_data_options(
    command: Callable[..., object], arguments: Mapping[str, Any], options: Mapping[str, Option]
) -> None:
    """Put the filter of the data into declared options, and open further files as the data are."""
    data = next((group for group in arguments.values() if isinstance(group, Data | Records)), None)
    if data is None:
        return
    groups = {n: group for n, group in command.__annotations__.items() if is_typeddict(group)}
    for name, group in groups.items():
        if "where" in group.__annotations__:
            arguments[name]["where"] = data.where
        for option, file in arguments[name].items():
            if option in options and options[option].form is DATASET:
                arguments[name][option] = data.dataset(str(file))


def _checked_output(
    groups: Mapping[type, Any], release: Path | None, written: Mapping[str, str | Path]
) -> Output | None:
    """Return where the result goes (None: the command has none); refuse what cannot be written."""
    if Output not in groups and Summary not in groups:
        return None
    from qifsql.options import show
    from qifsql.results.storage import check_place

    summary: Summary | None = groups.get(Summary)
    output = groups[Output] if summary is None else Output(summary.format_, summary.summary)
    show.check(output, **written)
    if summary is not None and summary.summary is not None:
        show.check_differ(summary.summary, "--summary", release, "-o")
    if output.out is not None and Data in groups:
        data: Data = groups[Data]
        source = groups[Auxiliary].source(data) if Auxiliary in groups else [data.dataset()]
        check_place(output.out, tuple(path for dataset in source for path in dataset.paths))
    return output


def _show(answer: Answer, output: Output, *, quiet: bool) -> None:
    """Show a result, and write it to a file if one is named."""
    from qifsql.engine import masks
    from qifsql.options import show

    display = answer.display or show.Display(
        result=answer.result,
        title=f"qifsql: {answer.title}",
        aside=answer.aside,
        view=answer.view,
        prose=answer.prose,
    )
    finish = answer.finish or (lambda: None)
    met = bool(answer.result) if answer.met is None else answer.met
    with (
        masks.private_outputs(when=answer.private),
        runtime.noting_created(output.out if answer.private else None, quiet=quiet),
    ):
        try:
            show.show(display, output, met=met, unmet=answer.unmet)
        except (BrokenPipeError, SystemExit):  # the reader has stopped
            finish()
            raise
    finish()
