"""What verdicts on chosen rows say, and how far it may be off."""
