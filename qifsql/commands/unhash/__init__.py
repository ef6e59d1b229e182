"""Dictionary attack: hash all candidate identifiers and look them up in a column of hashes."""
