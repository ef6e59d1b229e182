"""The command ``tables``: what published tables of counts give away."""
