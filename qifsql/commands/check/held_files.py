"""The files that a recipient holds: registers of people, and earlier releases of the same people.

An earlier release has the key of people of the policy, as the release itself; both are attacked
together, as the longitudinal models do (M18). Any other file is a register.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qifsql.adversary.names import is_in
from qifsql.data.collection import Collection, Source
from qifsql.data.dataset import Dataset, Schema, datasets
from qifsql.data.option import as_names
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.study.policy import Policy
from qifsql.study.recipients import Recipient


@dataclass(frozen=True)
class HeldFiles:
    """The release, and what is held besides it: earlier releases by the ``key``, and registers.

    ``source`` is what is checked, ``releases`` its file with its columns, if anything is held. A
    held file has its columns beside it, too. ``key`` is empty without earlier releases.
    """

    source: Source
    releases: tuple[tuple[Dataset, Schema], ...] = ()
    earlier: tuple[tuple[Dataset, Schema], ...] = ()
    registers: tuple[tuple[Dataset, Schema], ...] = ()
    key: str = ""

    @property
    def release(self) -> Dataset:
        """Return the file that is checked."""
        return self.releases[0][0]

    def collection(self) -> Collection:
        """Return the release with the earlier ones, joined by the key."""
        return Collection.of([self.release, *(data for data, _ in self.earlier)], key=self.key)

    def unused(self, register: Schema, used: Sequence[str]) -> list[str]:
        """Return the columns that a register and the release both have, without those ``used``."""
        names = {name.casefold() for name in used}
        _, columns = self.releases[0]
        common = (c.name for c in register.columns if columns.find(c.name) is not None)
        return [name for name in common if name.casefold() not in names]


def hold(
    policy: Policy, recipient: Recipient, source: Source, settings: Settings | None
) -> HeldFiles:
    """Return the files of a recipient: registers, and releases with the key of the policy.

    Raises InputError if something is held and there are several releases.
    """
    if not recipient.holds:
        return HeldFiles(source)
    release, columns = _opened(source, settings)
    held = [(data, _columns(data, settings)) for data in map(Dataset.open, recipient.holds)]
    keys = as_names(policy.adversary.get("key") or policy.adversary.get("person") or ())
    key = keys[0] if len(keys) == 1 and columns.find(keys[0]) is not None else ""
    earlier = [file for file in held if key and file[1].find(key) is not None]
    registers = [file for file in held if file not in earlier]
    key = key if earlier else ""
    return HeldFiles(source, ((release, columns),), tuple(earlier), tuple(registers), key)


def of_release(qids: Sequence[str], source: Source, settings: Settings | None) -> list[str]:
    """Return the quasi-identifiers that a release has; others are in earlier releases alone."""
    _, columns = _opened(source, settings)
    return [text for text in qids if is_in(text, columns)]


def _opened(source: Source, settings: Settings | None) -> tuple[Dataset, Schema]:
    """Return the one release of a source, with its columns."""
    files = source.datasets if isinstance(source, Collection) else datasets(source)
    if len(files) != 1:
        raise InputError(
            "what is held is linked or joined with one release; check each file by itself"
        )
    return files[0], _columns(files[0], settings)


def _columns(data: Dataset, settings: Settings | None) -> Schema:
    with open_engine(settings, sources=[data], command="check") as engine:
        return Catalog(engine, data).schema
