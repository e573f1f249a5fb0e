"""Principal components: PCA, probabilistic PCA, truncated SVD, and how many components."""
