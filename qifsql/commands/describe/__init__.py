"""``qifsql describe``: the columns of a dataset."""
