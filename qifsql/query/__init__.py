"""Translation of a bound attack to SQL: the files of ``sql/``, plans, steps, text."""
