"""Find special uniques: minimal sample uniques (MSU), SUDA and DIS-SUDA scores."""
