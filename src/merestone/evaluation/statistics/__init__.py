"""How sure a mean is, or a difference of two."""
