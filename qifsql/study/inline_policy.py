"""Rules that stand in a study itself: a policy of their own, made when it is needed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qifsql.data.toml_lines import Route
from qifsql.engine.settings import private_folder
from qifsql.errors import InputError
from qifsql.study import policy
from qifsql.study.policy import Policy


@contextmanager
def policy_file(
    rules: Sequence[Mapping[str, Any]], temp: Path | None = None, *, unnamed: str | None = None
) -> Iterator[Path]:
    """A private file with the rules as a policy; it goes when this ends."""
    folder = private_folder(temp)
    try:
        path = folder.path / "rules.toml"
        lines = [text for text, _ in _lines(rules, unnamed)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield path
    finally:
        folder.remove()


class RuleError(InputError):
    """What is wrong with a rule, and where it stands in the list of rules."""

    def __init__(self, message: str, place: Route) -> None:
        super().__init__(message)
        self.place = place


def read(
    rules: Sequence[Mapping[str, Any]], adversary: Mapping[str, Any], *, unnamed: str | None = None
) -> Policy:
    """The policy that rules are. RuleError says what is wrong with one, and with which."""
    with policy_file(rules, unnamed=unnamed) as path:
        try:
            return policy.read(path, **adversary)
        except InputError as e:
            match = re.fullmatch(r".*?rules\.toml, line (\d+): (.*)", str(e), re.DOTALL)
            if not match:
                raise
            written = [*_lines(rules, unnamed)][int(match[1]) - 1][1]
            raise RuleError(match[2], written) from e


def toml(value: Any) -> str:
    """A value in TOML, on one line. Texts are basic strings; TypeError for what there is not."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{toml(name)} = {toml(inner)}" for name, inner in value.items())
        return f"{{{', '.join(pairs)}}}"
    return str(value)  # a date or a time


def _lines(rules: Sequence[Mapping[str, Any]], unnamed: str | None) -> Iterator[tuple[str, Route]]:
    """The lines of a policy, each with the place in the list of rules that it comes from."""
    if unnamed is not None:
        yield f"unnamed = {toml(unnamed)}", ()
    for i, rule in enumerate(rules):
        yield "[[rule]]", (i,)
        for name, value in rule.items():
            yield f"{toml(name)} = {toml(value)}", (i, name)
