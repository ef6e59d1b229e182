"""Compile the catalogues of messages: what ``gettext`` reads is built, not kept."""

import io
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def compile_catalogues(root: Path) -> list[str]:
    """Write the compiled file of each catalogue that has changed; return the names of all."""
    names = []
    for source in sorted(root.glob("qifsql/presentation/locale/*/LC_MESSAGES/*.po")):
        built = io.BytesIO()
        with source.open("rb") as file:
            write_mo(built, read_po(file))
        target = source.with_suffix(".mo")
        if not target.is_file() or target.read_bytes() != built.getvalue():
            partial = target.with_suffix(".mo.new")  # tests read while others write
            partial.write_bytes(built.getvalue())
            partial.replace(target)
        names.append(target.relative_to(root).as_posix())
    return names


class Catalogues(BuildHookInterface[Any]):
    """Put the compiled catalogues into the wheel; an editable installation finds them in place."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the wheel are listed."""
        build_data["artifacts"] += compile_catalogues(Path(self.root))
