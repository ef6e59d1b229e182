"""The definition of each measure, level, bound and posterior, in exact fractions over rows.

Slow and plain, from the mathematics and the sources, not from the SQL or from ``measures``. Tests,
``qifsql verify`` and the worked examples of ``qifsql explain`` take their numbers from here.
"""
