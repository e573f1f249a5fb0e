"""Side-by-side runs against rival libraries: ``python -m benchmarks``."""
