"""``qifsql anonymise``: a generalised release."""
