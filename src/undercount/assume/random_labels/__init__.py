"""Labels given at random among the positives."""
