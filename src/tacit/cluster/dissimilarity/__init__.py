"""Dissimilarities of rows: named ones, Gower's, and functions that the user wrote."""
