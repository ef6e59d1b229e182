"""Expected gains of an adversary, in the unit of the gain function."""

from fractions import Fraction

from qifsql.measures.bayes import Success, inference, reidentification
from qifsql.measures.profile import Profile


def success(profile: Profile, secret: int, gain: int) -> Success:
    """Return the success of a question: its ``probabilistic`` part is the g-vulnerability.

    ``secret`` 0 is the owner of a record, ``gain`` 0 is identity. For other gains ``profile.mode``
    has the gain of the best guess of each block, times ``profile.scale``, summed over the block's
    people. V_g = sum_b max_w sum_v p(v, b) g(w, v) (thesis Def. 6; PoPETs section 3), in the unit
    of the gain; worst case: the largest expected gain from one person. The certain people do not
    depend on the gain function.
    """
    plain = inference(profile) if secret else reidentification(profile)
    if not gain:
        return plain
    worst = float(profile.frame["chance"].max() or 0) / profile.scale  # type: ignore[arg-type]
    gained = profile.share("mode") / Fraction(profile.scale)
    return Success(plain.deterministic, gained, worst, plain.certain)
