"""``qifsql what-if``: changes to a release before they are made."""
