"""Labels that stand for positives, each for as many as an assumption says."""
