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
        found = [parameter]
        group = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            found = list(inspect.signature(group).parameters.values())
            groups[parameter.name] = group, [p.name for p in found]
        parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in found]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, (make, fields) in groups.items():
            given[name] = make(**{field: given.pop(field) for field in fields})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
