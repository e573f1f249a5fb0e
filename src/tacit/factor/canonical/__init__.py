"""Canonical correlations: what two views of the same rows have in common."""
