"""Sum-product by hand: the messages of a small factor graph, in plain NumPy and as the library sends them.

Run: python examples/sum_product_by_hand.py
"""

import numpy as np

from tacit.graph import FactorGraph, Potential

# f1 — a — f2 — b — f3 — c,  and f4 on b: p(a, b, c) ∝ f1(a) f2(a, b) f3(b, c) f4(b)
f1, f2 = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.2, 0.8]])
f3, f4 = np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([1.0, 2.0])

print("messages towards b")
f1_to_a = f1
f2_to_b = f2.T @ f1_to_a
f3_to_b = f3.sum(axis=1)
for name, message in {"f1 → a": f1_to_a, "f2 → b": f2_to_b, "f3 → b": f3_to_b, "f4 → b": f4}.items():
    print(f"  {name}  {message.round(4).tolist()}")
b = f2_to_b * f3_to_b * f4
print(f"b: the product {b.round(4).tolist()}, its sum Z = {b.sum():.4f}, p(b) = {(b / b.sum()).round(4).tolist()}")

print("\nand back")
f2_to_a = f2 @ (f3_to_b * f4)
f3_to_c = f3.T @ (f2_to_b * f4)
a, c = f1_to_a * f2_to_a, f3_to_c
print(f"  f2 → a  {f2_to_a.round(4).tolist()}, p(a) = {(a / a.sum()).round(4).tolist()}")
print(f"  f3 → c  {f3_to_c.round(4).tolist()}, p(c) = {(c / c.sum()).round(4).tolist()}")

graph = FactorGraph([Potential("a", f1), Potential("ab", f2), Potential("bc", f3), Potential("b", f4)])
found = graph.sum_product()
print(f"\nthe library: {found.reason}")
for v, by_hand in zip("abc", (a, b, c)):
    print(f"  p({v}) = {found.marginals[v].values.round(4).tolist()}")
    np.testing.assert_allclose(found.marginals[v].values, by_hand / by_hand.sum())
np.testing.assert_allclose(found.log_partition, np.log(b.sum()))

print("\nthe three most probable states")
for solution in graph.n_best(3):
    print(f"  {solution.states}  p = {np.exp(solution.log_value - found.log_partition):.4f}")
print(f"given c = 0, p(a) = {graph.sum_product({'c': 0}).marginals['a'].values.round(4).tolist()}")
