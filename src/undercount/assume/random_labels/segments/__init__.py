"""How random labels share a prevalence over segments: given, shared out, or pooled."""
