"""Whether an entry fits its data: names, expressions and types, looked at before anything runs."""

from qifsql.commands.attack import attack
from qifsql.commands.check import check
from qifsql.commands.sweep import sweep
from qifsql.engine.settings import Settings
from qifsql.study.entry import Entry
from qifsql.study.entry_files import policy_of


def fit(entry: Entry, settings: Settings | None = None) -> None:
    """Look up every name of an entry in its data. InputError where something does not fit."""
    if entry.kind == "attack":
        attack.fit(entry.models, entry.source, settings, **entry.options)
    elif entry.kind == "sweep":
        sweep.fit(entry.source, settings, **entry.options)
    else:
        check.fit(entry.source, policy_of(entry.options), settings)
