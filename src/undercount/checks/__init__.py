"""What data say against an assumption, as numbered checks."""
