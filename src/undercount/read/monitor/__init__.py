"""A classifier followed over time."""
