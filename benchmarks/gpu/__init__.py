"""Figures that need a GPU."""
