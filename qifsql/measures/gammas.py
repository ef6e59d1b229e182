"""Sums and ratios of the gamma function over long ranges, without adding term by term.

Asymptotic series from 20 on (Abramowitz and Stegun 6.1.41, 6.3.18), terms one by one below: exact
to about 14 digits, also if both ends of a range are large and close together; then the difference
of two values of scipy's ``digamma`` keeps only 7 digits.
"""

import math

FROM = 20.0  # from here on the series is exact to double precision
DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)  # B_2k / 2k, of x^-2k
LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)  # B_2k / (2k (2k - 1)), of x^(1 - 2k)


def harmonic(x: float, terms: int) -> float:
    """Compute 1/x + 1/(x + 1) + ... with that many terms; x > 0."""
    total = 0.0
    while terms > 0 and x < FROM:  # too small for the series
        total, x, terms = total + 1 / x, x + 1, terms - 1
    if terms <= 0:
        return total
    end = x + terms
    tail = math.log1p(terms / x) + (1 / x - 1 / end) / 2
    for k, b in enumerate(DIGAMMA, 1):
        tail += b * (x ** (-2 * k) - end ** (-2 * k))
    return total + tail


def log_rising(x: float, step: float) -> float:
    """Compute log(Gamma(x + step) / Gamma(x)) for x > 0, step >= 0.

    For whole steps that is log(x (x + 1) ... (x + step - 1)).
    """
    total = 0.0
    while x < FROM:  # too small for the series: Gamma(x + 1) = x Gamma(x)
        total, x = total - math.log1p(step / x), x + 1
    end = x + step  # from here on, the difference of Stirling's series at both ends
    tail = (end - 0.5) * math.log1p(step / x) + step * (math.log(x) - 1)
    for k, b in enumerate(LOG_GAMMA, 1):
        tail += b * (end ** (1 - 2 * k) - x ** (1 - 2 * k))
    return total + tail
