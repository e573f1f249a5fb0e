"""Factor analysis: a few factors behind the columns, each column with noise of its own."""
