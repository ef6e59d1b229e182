"""Privacy risk of published microdata, measured exactly.

>>> import qifsql
>>> result = qifsql.attack("crs", "census.parquet", qids=["age", "sex"])  # doctest: +SKIP
>>> result.frame  # doctest: +SKIP

Every command of the command line is a function of the same name here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers; at run time names are imported when they are first used
    from qifsql.assess import attack
    from qifsql.assessment import Assessment
    from qifsql.checking import Verdict, check
    from qifsql.collection import Collection
    from qifsql.dataset import Dataset
    from qifsql.demonstration import demo
    from qifsql.description import Description, describe
    from qifsql.engine.settings import Settings
    from qifsql.errors import QifError
    from qifsql.explanation import Explanation, explain
    from qifsql.inspection import sql
    from qifsql.objects import Hyper, hyper
    from qifsql.partition import Blocks, blocks, records
    from qifsql.prompt import shell
    from qifsql.receipts import Receipt, receipt
    from qifsql.refinement import Refinement, refines
    from qifsql.sanitise.anonymise import Anonymised, anonymise
    from qifsql.spec import Attack
    from qifsql.study.draft import init
    from qifsql.study.result import StudyResult
    from qifsql.study.run import run
    from qifsql.study.spec import Study
    from qifsql.sweep.result import Sweep
    from qifsql.sweep.run import sweep
    from qifsql.treatment.treat import Treatment, treat

__version__ = "0.1.0"

__all__ = [
    "Anonymised",
    "Assessment",
    "Attack",
    "Blocks",
    "Collection",
    "Dataset",
    "Description",
    "Explanation",
    "Hyper",
    "QifError",
    "Receipt",
    "Refinement",
    "Settings",
    "Study",
    "StudyResult",
    "Sweep",
    "Treatment",
    "Verdict",
    "__version__",
    "anonymise",
    "attack",
    "blocks",
    "check",
    "demo",
    "describe",
    "explain",
    "hyper",
    "init",
    "receipt",
    "records",
    "refines",
    "run",
    "shell",
    "sql",
    "sweep",
    "treat",
]

_HOME = {
    "Anonymised": "sanitise.anonymise",
    "Assessment": "assessment",
    "Attack": "spec",
    "Blocks": "partition",
    "Collection": "collection",
    "Dataset": "dataset",
    "Description": "description",
    "Explanation": "explanation",
    "Hyper": "objects",
    "QifError": "errors",
    "Receipt": "receipts",
    "Refinement": "refinement",
    "Settings": "engine.settings",
    "Study": "study.spec",
    "StudyResult": "study.result",
    "Sweep": "sweep.result",
    "Treatment": "treatment.treat",
    "Verdict": "checking",
    "anonymise": "sanitise.anonymise",
    "attack": "assess",
    "blocks": "partition",
    "check": "checking",
    "demo": "demonstration",
    "describe": "description",
    "explain": "explanation",
    "hyper": "objects",
    "init": "study.draft",
    "receipt": "receipts",
    "records": "partition",
    "refines": "refinement",
    "run": "study.run",
    "shell": "prompt",
    "sql": "inspection",
    "sweep": "sweep.run",
    "treat": "treatment.treat",
}


import_module("qifsql.sweep")  # binds the name to the package, once
del sweep


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import qifsql`` stays fast."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
