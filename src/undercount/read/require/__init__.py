"""Requirements: words such as "precision >= 0.7", judged on evaluations and comparisons."""
