"""Labels more likely for some positives than for others, by known chances."""
