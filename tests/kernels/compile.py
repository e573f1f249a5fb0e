"""Compile kernels before tests share the cores: python -m tests.kernels.compile NUMBER OF, for a share of the modules."""

import sys

from tacit.kernels import KERNELS, kernel

from .test_kernels import CASES, make_world


def main(number, of):
    modules = sorted(set(KERNELS.values()))[number::of]
    for dtype in ("float64", "float32"):
        world = make_world(dtype, 3, 2)
        for name in (name for name, module in KERNELS.items() if module in modules):
            for arguments in CASES[name](world):
                kernel(name)(*arguments)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
