"""The commands: a room each, under its name on the command line.

A room holds all that is its own command's: ``<name>.py`` with the function ``<name>``, which is
also ``qifsql.<name>``; ``cli.py``, how it is asked on the command line; ``view.py`` and
``charts.py``, how the answer is shown. The word here is the registration of a command.
"""

JOBS = {
    "Begin": ("start", "open"),
    "Measure": (
        *("attack", "sweep", "adversaries", "tables", "synthetic", "levels", "estimate"),
        "suda",
    ),
    "Test for an attack": ("link", "unhash", "unicity", "compose"),
    "Inspect": ("describe", "inspect"),
    "Protect": ("anonymise", "compare", "dp", "dit"),
    "Decide and report": ("check", "run", "init", "report"),
    "Learn and verify": ("demo", "explain", "sql", "shell", "verify"),
}
"""The commands by job, in the order of ``qifsql --help``."""

TRANSLATED = ("attack", "sweep", "levels", "check", "report")
"""The commands whose help texts are in all languages of reports, by the user's locale."""

NAMES = tuple(name for names in JOBS.values() for name in names)
"""All commands."""
