"""Check attacks on people with several records, and on households.

With ``person``, the records of a person are one set. With ``household``, people are attacked as
usual, and the risk of their households is measured besides; with both, a person is a member of each
household that one of her records names.
"""

from collections.abc import Sequence

from qifsql.adversary.gains import KINDS, OF_VALUES, parse
from qifsql.adversary.models import Model
from qifsql.adversary.spec import Attack
from qifsql.errors import InputError

COLLECTIVE = ("re-identification", "attribute inference")


def check(attack: Attack, models: Sequence[Model]) -> None:
    """Refuse what is not defined for sets of records or for households."""
    if attack.person is None and attack.household is None:
        return
    name = "person" if attack.person is not None else "household"
    for m in models:
        if not takes_sets(m):
            raise InputError(
                f"{name} is for the models crs and cas (crl and cal with household), which attack "
                f"everybody; leave {name} out of {m.acronym}"
            )
    if attack.prior is not None:
        raise InputError(f"{name} and prior cannot be combined; leave one of them out")
    if attack.person is not None:
        refuse_weight(attack)
        _check_person(attack)


def takes_sets(model: Model) -> bool:
    """Return whether a model is about everybody, and people or households may be sets."""
    return not model.individual and model.goal in COLLECTIVE


def refuse_weight(attack: Attack) -> None:
    """Refuse weights, which are those of single records, in an attack by person or household."""
    name = "household" if attack.person is None else "person"
    if attack.weight is not None and (attack.person or attack.household) is not None:
        raise InputError(
            f"{name} and weight cannot be combined: weights are those of single records; leave "
            "one of them out"
        )


def _check_person(attack: Attack) -> None:
    """Refuse options that are not defined where an individual is all records of one person."""
    if attack.of_collection:
        raise InputError(
            "person is for one release; in a collection, people are joined by their key: first "
            "choose one record per person with qifsql anonymise --one-per"
        )
    if attack.by is not None:
        raise InputError(
            "person and by cannot be combined: the records of one person may be in several "
            "groups; leave one of them out"
        )
    for text in attack.gains:
        if parse(text).kind in OF_VALUES:
            others = ", ".join(kind for kind in KINDS if kind not in OF_VALUES)
            raise InputError(
                f"gain {text} compares values, and the secret of a person with several records is "
                f"a set of values; use {others}"
            )
