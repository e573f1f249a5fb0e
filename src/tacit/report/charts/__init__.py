"""Charts as SVG and plain HTML, one family a file; each function takes numbers and gives `Markup`."""
