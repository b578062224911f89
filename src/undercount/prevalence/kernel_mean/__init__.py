"""Kernel mean embeddings (Ramaswamy et al. 2016)."""
