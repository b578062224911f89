"""Operating curves to numbers with intervals."""
