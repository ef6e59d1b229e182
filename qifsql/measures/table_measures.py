"""The measures of published tables that can be bounded, in ``tables`` and in policies."""

COUNT_MEASURES = ("reconstructed", "reconstructed_ones", "singled_out", "certain_inference")
SHARE_MEASURES = ("lowest", "highest", "believed", "actual")
MEASURES = (*COUNT_MEASURES, *SHARE_MEASURES, "undone")
DIFFERENCES = "small_differences"  # no remedies are tried for them
REQUIRED = (*MEASURES, DIFFERENCES)
ABOUT_SECRETS = ("singled_out", "certain_inference", *SHARE_MEASURES)
"""Measures that may differ by secret, because what is known differs; the others are about all."""
