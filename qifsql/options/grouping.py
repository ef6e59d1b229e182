"""Groups of options as parameters of a command, for typer to read."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as parameters, for typer to read."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., object], list[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        members = [parameter]
        group = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            members = list(inspect.signature(group).parameters.values())
            groups[parameter.name] = group, [p.name for p in members]
        parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in members]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        for name, (make, fields) in groups.items():
            arguments[name] = make(**{field: arguments.pop(field) for field in fields})
        command(**arguments)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
