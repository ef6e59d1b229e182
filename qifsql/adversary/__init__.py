"""The adversary's knowledge and aim: models, gains, and an attack bound to columns."""
