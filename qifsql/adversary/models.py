"""The twelve attacks: their targets, goals and numbers of releases (PoPETs Table 1).

The goals differ only in the secret: the owner of a record (re-identification), the value of a
sensitive attribute (attribute inference), or a person's presence in the release (membership). A
single release is a collection of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from qifsql.errors import InputError, quoted

Goal = Literal["re-identification", "attribute inference", "membership"]


@dataclass(frozen=True)
class Model:
    """One of the twelve attacks.

    ``source`` names its definitions in the thesis and the paper, ``also`` the attacker model of
    disclosure control.
    """

    acronym: str
    goal: Goal
    individual: bool
    longitudinal: bool
    source: str
    also: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return its acronym, and its name in disclosure control if it has one."""
        return (self.acronym, self.also) if self.also else (self.acronym,)

    @property
    def title(self) -> str:
        """Return the name in words: collective-target re-identification, single dataset."""
        target = "individual" if self.individual else "collective"
        access = "longitudinal collection" if self.longitudinal else "single dataset"
        also = f" ({self.also})" if self.also else ""
        return f"{target}-target {self.goal}, {access}{also}"

    @property
    def line(self) -> str:
        """Return what is guessed, in one line: ``crs: everybody's record, one release``."""
        whose = "one person's" if self.individual else "everybody's"
        what = {_R: "record", _A: "secret", _M: "presence"}[self.goal]
        access = "several releases" if self.longitudinal else "one release"
        return f"{self.acronym}: {whose} {what}, {access}"


_R: Goal = "re-identification"
_A: Goal = "attribute inference"
_M: Goal = "membership"
MODELS = {
    m.acronym: m
    for m in (
        Model("crs", _R, False, False, "thesis Def. 16, Eqs. 4.1-4.6; PoPETs Table 1", "marketer"),
        Model("cas", _A, False, False, "thesis Def. 17, Eqs. 4.7-4.13; PoPETs Table 1"),
        Model("cms", _M, False, False, "PoPETs Table 1, appendix C"),
        Model("irs", _R, True, False, "thesis Def. 39, Eqs. C.1-C.6; PoPETs Table 1", "prosecutor"),
        Model("ias", _A, True, False, "thesis Def. 40, Eqs. C.7-C.13; PoPETs Table 1"),
        Model("ims", _M, True, False, "PoPETs Table 1, appendix C", "journalist"),
        Model("crl", _R, False, True, "thesis Def. 21, Eqs. 5.1-5.6; PoPETs Table 1"),
        Model("cal", _A, False, True, "thesis Def. 22, Eqs. 5.7-5.13; PoPETs Table 1"),
        Model("cml", _M, False, True, "PoPETs Table 1, appendix C"),
        Model("irl", _R, True, True, "thesis Def. 43, Eqs. C.14-C.22; PoPETs Table 1"),
        Model("ial", _A, True, True, "thesis Def. 44, Eqs. C.23-C.28; PoPETs Table 1"),
        Model("iml", _M, True, True, "PoPETs Table 1, appendix C"),
    )
}


def models_named(names: str | Sequence[str]) -> tuple[Model, ...]:
    """Return the models of acronyms, each once; they are a list, or a text with commas."""
    texts = names.split(",") if isinstance(names, str) else names
    return tuple(dict.fromkeys(model(text.strip()) for text in texts))


def model(name: str) -> Model:
    """Return the model with this acronym (crs), or name in disclosure control; ignore case."""
    key = name.casefold()
    kind = next((m for m in MODELS.values() if key in m.names), None)
    if kind is None:
        also = ", ".join(m.also for m in MODELS.values() if m.also)
        raise InputError(
            f"there is no model {quoted(name)}; use one of {', '.join(MODELS)}, or {also}"
        )
    return kind
