"""What the adversary knows and wants: models, gains, and an attack bound to columns."""
