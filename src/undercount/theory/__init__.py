"""What the papers prove: moments, tail bounds, inversions, recovery errors, simulations."""
