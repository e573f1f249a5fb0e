"""Variational inference: distributions of a simple form that are near a posterior, and the bound on the evidence they give."""
