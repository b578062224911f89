"""Plans of reviews: which unlabeled rows to look at, and how narrow that makes intervals."""
