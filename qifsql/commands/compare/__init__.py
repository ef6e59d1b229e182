"""Compare FILE with sanitised releases or with changes: the remaining risk and the loss."""
