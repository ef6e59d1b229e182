"""Privacy risk of published microdata, measured exactly.

>>> import qifsql
>>> result = qifsql.attack("crs", "census.parquet", qids=["age", "sex"])  # doctest: +SKIP
>>> result.frame  # doctest: +SKIP

Every command of the command line is a function of the same name here.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {  # public name -> the module it lives in, imported when the name is first used
    "Assessment": "assessment",
    "Attack": "spec",
    "Blocks": "partition",
    "Dataset": "dataset",
    "QifError": "errors",
    "Settings": "engine.settings",
    "attack": "assess",
    "blocks": "partition",
    "demo": "demonstration",
    "describe": "description",
    "records": "partition",
    "shell": "prompt",
    "sql": "inspection",
}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604 - the names are literals above


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import qifsql`` stays fast."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
