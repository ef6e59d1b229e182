"""Mutation tests: changed copies of ``sql/`` and ``qifsql/measures/`` that some test must see."""
