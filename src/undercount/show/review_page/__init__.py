"""The page in which people answer: one case after the other, and what their verdicts buy."""
