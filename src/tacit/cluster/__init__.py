"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

__all__: list[str] = []
