"""Build the site into docs/_build/html, warnings being errors, and check it.

Run: python docs/build.py; then open docs/_build/html/index.html. It needs: pip install -e '.[docs]'.
"""

import sys
import time
from pathlib import Path

from check import SITE, main
from sphinx.cmd.build import build_main

if __name__ == "__main__":
    start, here = time.monotonic(), str(Path(__file__).parent)
    options = ["-W", "--keep-going", "-n", "-q", "-j", "auto", "-d", str(SITE.parent / "trees"), *sys.argv[1:]]
    failed = build_main([*options, "-b", "html", here, str(SITE)])
    print(f"built in {time.monotonic() - start:.0f} s")
    sys.exit(failed or main())
