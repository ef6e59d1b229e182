"""Check the texts of the project by rules that ruff does not have: ``python tests/lint/run.py``.

Each finding is a line ``file:line: what is wrong``; the exit code is 1 where there is one.
"""

import sys
from pathlib import Path

if __package__ in (None, ""):
    root = Path(__file__).resolve().parents[2]
    sys.path[:1] = [str(root / name) for name in ("tests", "docs", "")]  # as the tests have it

from places import ROOT

from lint import catalogues, equations, glued, imports, pages, sql_files, words
from lint.project import Project

RULES = tuple(
    rule
    for subject in (imports, words, glued, sql_files, equations, pages, catalogues)
    for rule in subject.RULES
)


def main() -> int:
    """Print all findings."""
    project = Project.read(ROOT)
    findings = sorted({finding for rule in RULES for finding in rule(project)})
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings by {len(RULES)} rules" if findings else "All rules hold.")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
