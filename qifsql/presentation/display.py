"""Display of a result in a notebook or at an interactive prompt, and its files.

``Result`` imports this module by name, as it does the views of commands, because results must not
depend on presentation.
"""

from collections.abc import Callable
from importlib import import_module
from io import StringIO
from pathlib import Path

from qifsql.errors import InputError
from qifsql.presentation import result_files
from qifsql.presentation.parts import Paragraph, Part
from qifsql.presentation.theme import Chart
from qifsql.results.kinds import view_of
from qifsql.results.result import Result
from qifsql.results.storage import check_ending, check_place

WIDTH = 120
"""Width of a result as text, in characters."""


def text(result: Result) -> str:
    """Return the text that the terminal shows for a result, and its notes, without colours."""
    from rich.console import Console

    from qifsql.presentation.terminal import rendered

    stream = StringIO()
    notes = [Paragraph(f"note: {note}") for note in result.notes]
    Console(file=stream, width=WIDTH, highlight=False, markup=False, color_system=None).print(
        rendered([*_parts(result), *notes]), crop=False
    )
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def html(result: Result) -> str:
    """Return a result as a fragment of HTML, with the first chart if charts can be drawn."""
    from qifsql.presentation import html as pages

    notes = [Paragraph(note) for note in result.notes]
    drawn = charts(result) if _can_draw() else {}
    return pages.fragment([*_parts(result), *notes], next(iter(drawn.values()), None))


def charts(result: Result) -> dict[str, Chart]:
    """Return the charts of a result by name; an empty dictionary if its kind has no charts."""
    try:
        room = import_module(f"qifsql.commands.{result.kind.replace('-', '_')}.charts")
    except ModuleNotFoundError:
        return {}
    drawn: dict[str, Chart] = room.charts(result.frame, result.details, result.spec)
    return drawn


def chart(result: Result, name: str | None) -> Chart:
    """Return one chart of a result, by default the first; InputError if there is none."""
    drawn = charts(result)
    if not drawn:
        raise InputError(f"a result of {result.kind} has no charts")
    if name is not None and name not in drawn:
        raise InputError(f"there is no chart {name}; the charts are {', '.join(drawn)}")
    return drawn[name or next(iter(drawn))]


def save(result: Result, path: str | Path) -> Path:
    """Write a result to a file in the format of its ending; return its path."""
    path = Path(path)
    check_ending(path)
    path = check_place(path, result.origin.paths)
    result_files.save(_shown(result), path)
    return path


def _shown(result: Result) -> result_files.Shown:
    name = result.spec.get("dataset")
    title = f"qifsql: {result.kind} of {name}" if name else f"qifsql: {result.kind}"
    view = view_of(result.kind)
    shown: Callable[..., result_files.Shown] = getattr(view, "shown", result_files.Shown)
    return shown(result=result, title=title)


def _parts(result: Result) -> list[Part]:
    return _shown(result).parts


def _can_draw() -> bool:
    """Return whether the packages for charts are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))
