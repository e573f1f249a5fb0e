"""Chains of hidden states on tensors; functions do what the compiled kernels of their names do (`chain` says what that is).

All sequences go side by side, one step after the other; a few long ones are first cut into stretches, which are guessed, checked
and run again as lanes are on the CPU (`chain_lanes`). With Triton a stretch is one loop in registers. Sequences
in which a state that matters is less probable than the least number, and few long ones that cannot be cut, are left to the
compiled kernels. Cells, weights and labels are tensors; parameters come in and sums go out as NumPy arrays.
"""

import numpy as np
import torch

from . import kernel
from .chain_lanes import LEAST_SHARE, LOST, SAME
from .torch_pass import chunks, fused, put
from .torch_stretches import layout_of

__all__ = ["decode", "draw_states", "filter_states", "smooth", "weigh_sequences"]

TINY = 1e-300  # as in `chain`
STRETCH = 512  # steps of a stretch
WIDE = 2048  # sequences side by side that are not cut
NARROW, LONG = 16, 1024  # sequences side by side, and steps of one, that the CPU takes where they cannot be cut
STATES = 64  # at most, of chains that run in registers


class Along:
    """A chain along the steps of a block.

    Parameters
    ----------
    joint : (states, steps) tensor
        Log densities, in which known states are settled.
    offsets, labels, start, move, which
        As in `smooth`.
    """

    def __init__(self, joint, offsets, labels, start, move, which):
        device = joint.device
        self.joint, self.offsets = joint, offsets
        _settle_labels(joint, torch.as_tensor(labels, device=device))
        self.top = joint.amax(dim=0)
        self.top.masked_fill_(self.top == -torch.inf, 0.0)
        self.b = _weighed(joint, self.top)
        self.start, self.move = put(start, device), put(move, device)
        self.which = torch.as_tensor(which, device=device).long() if len(which) else None
        self.fragile = bool((move < 1e-100).any())
        self.layout = layout_of(offsets, device, can_cut(offsets, move, which), STRETCH)
        self.quick = _quick(joint) if self.which is None else None

    def step(self, share, rows, back=False):
        """Aᵀ share for the moves into `rows`, or A share."""
        if self.which is None:
            return share @ (self.move[0].T if back else self.move[0])
        moves = self.move[self.which[rows]]
        return torch.bmm(moves, share[:, :, None])[:, :, 0] if back else torch.bmm(share[:, None], moves)[:, 0]

    # Forward

    def forward(self):
        """α (steps, states), and logs of the sums that scale it by step and, as an array, added up by sequence.

        From where a state is lost, all of a sequence is NaN.
        """
        layout, alpha, line = self.layout, torch.empty_like(self.b), torch.empty_like(self.top)
        entry = self.start.repeat(len(layout.begin), 1)
        if len(layout.later):
            even = self.start.new_full((1, len(self.start)), 1.0 / len(self.start))
            self._run(layout.tails, (even @ self.move[0]).repeat(len(layout.later), 1), alpha, line)
            guess = alpha[layout.tails.last]
            entry[layout.later] = guess @ self.move[0]
        evidence = self._run(layout, entry, alpha, line)
        while len(layout.later):
            ends = alpha[layout.last[layout.prior]]
            wrong = _differ(ends, guess)
            if not len(wrong):
                break
            guess[wrong] = ends[wrong]
            places = layout.later[wrong].sort().values
            entry[layout.later[wrong]] = ends[wrong] @ self.move[0]
            evidence[places] = self._run(layout.only(places.cpu().numpy()), entry[places], alpha, line)
        return alpha, line, layout.added(evidence)

    def _run(self, runs, entry, alpha, line):
        """Fill α and logs of sums of some stretches, given p at their first steps; return the sums of these logs."""
        if self.quick:
            return self.quick.forward(self.b, self.top, runs, entry, self.move[0], self.fragile, alpha, line)
        total, p, now = self.top.new_zeros(len(runs.begin)), entry, entry
        for t, n in enumerate(runs.wide):
            at = runs.first[:n] + t
            p = self.step(now[:n], at) if t else p
            here = self.b[at]
            x = p * here
            s = x.sum(dim=1)
            s = s.masked_fill(~(s > LOST), torch.nan)
            if self.fragile:
                s = s.masked_fill(((x < LOST) & (p > 0.0) & (here > 0.0)).any(dim=1), torch.nan)
            now, logs = x / s[:, None], s.log() + self.top[at]
            alpha[at], line[at] = now, logs
            total[:n] += logs
        return total

    # Backward

    def backward(self, alpha, weight):
        """γ (steps, states), and Σ w α_{t−1} ρ_tᵀ (matrices, states, states), expected moves over A."""
        layout, gamma = self.layout, self.b  # b is not needed any more
        rows_weight, weight = weight, weight[layout.first]
        last = alpha[layout.last]
        if len(layout.later):
            heads, which = layout.heads
            self._run_back(heads, alpha[heads.last], alpha, weight[layout.later[which]], gamma)
            guess = gamma[layout.first[layout.later]]
            last[layout.prior] = self._back_from(guess, alpha)
        sums, again = self._run_back(layout, last, alpha, weight, gamma), False
        while len(layout.later):
            found = gamma[layout.first[layout.later]]
            wrong = _differ(found, guess)
            if not len(wrong):
                break
            guess[wrong], again = found[wrong], True
            last[layout.prior] = self._back_from(guess, alpha)
            places = layout.prior[wrong].sort().values
            self._run_back(layout.only(places.cpu().numpy()), last[places], alpha, weight[places], gamma)
        if again:
            sums = self._run_back(layout, last, alpha, weight, gamma)
        if self.which is not None:
            return gamma, self._count(alpha, gamma, rows_weight)
        rows = layout.first[layout.later]
        if len(rows):
            ratio = self._ratio(gamma[rows], alpha[rows - 1], rows)
            sums = sums + (alpha[rows - 1] * weight[layout.later][:, None]).T @ ratio
        return gamma, sums[None]

    def _ratio(self, gamma, before, rows):
        """ρ = γ / p of `rows`, given α of the steps before."""
        return gamma / self.step(before, rows).clamp_min(LEAST_SHARE)

    def _back_from(self, gamma, alpha):
        """γ of last steps of stretches, given γ of the first steps of those that continue them."""
        rows = self.layout.first[self.layout.later]
        ends = alpha[rows - 1]
        return ends * self.step(self._ratio(gamma, ends, rows), rows, back=True)

    def _run_back(self, runs, last, alpha, weight, gamma):
        """Fill γ of some stretches, given γ at their last steps; return Σ w α ρᵀ over steps inside of them."""
        if self.quick:
            return self.quick.backward(alpha, runs, last, self.move[0], weight, gamma)
        sums, now = torch.zeros_like(self.move[0]), last
        for t, n in enumerate(runs.wide):
            at = runs.last[:n] - t
            if t:
                here = alpha[at]
                ratio = self._ratio(now[:n], here, at + 1)
                if self.which is None:
                    sums.addmm_((here * weight[:n, None]).T, ratio)
                now = here * self.step(ratio, at + 1, back=True)
            gamma[at] = now
        return sums

    def _count(self, alpha, gamma, weight):
        """Expected moves over A by matrix; rows are sorted by their matrix, so that sums are added in order."""
        assert self.which is not None
        inside = np.setdiff1d(np.arange(len(alpha)), self.offsets[:-1])
        rows = torch.as_tensor(inside, device=alpha.device)
        which = self.which[rows]
        rows = rows[which.sort(stable=True).indices]
        sums = torch.zeros_like(self.move)
        for m, part in enumerate(rows.split(torch.bincount(which, minlength=len(sums)).tolist())):
            for cut in chunks(len(part), 3 * sums.shape[1] + sums.shape[1] ** 2, alpha.device):
                at = part[cut]
                before = alpha[at - 1]
                sums[m].addmm_((before * weight[at][:, None]).T, self._ratio(gamma[at], before, at))
        return sums

    def rows_of(self, sequences):
        """Rows of some sequences, and the offsets of these among them, as arrays."""
        length = np.diff(self.offsets)[sequences]
        ends = np.append(0, np.cumsum(length))
        return np.arange(ends[-1]) + np.repeat(self.offsets[:-1][sequences] - ends[:-1], length), ends


def can_cut(offsets, move, which):
    """Whether sequences are few and long, and the chain forgets where it began."""
    longest = np.diff(offsets).max(initial=0)
    return not len(which) and longest > 2 * STRETCH and offsets[-1] < WIDE * longest and not (move < 1e-100).any()


def is_narrow(offsets):
    """Whether sequences are so few and long that one core is quicker, step by step, than a device."""
    longest = np.diff(offsets).max(initial=0)
    return longest > LONG and offsets[-1] < NARROW * longest


def smooth(joint, offsets, weight, labels, start, move, which, first, moves, evidence):
    """As the compiled kernel; `joint`, `weight` and `labels` are tensors."""
    weight = torch.as_tensor(weight, device=joint.device)
    if is_narrow(offsets) and not can_cut(offsets, move, which):
        return _on_host("smooth", joint, offsets, weight, labels, start, move, which, first, moves, evidence)
    run = Along(joint, offsets, labels, start, move, which)
    alpha, _, evidence[:] = run.forward()
    failed = np.flatnonzero(np.isnan(evidence))
    rows, ends = run.rows_of(failed)
    lost = torch.as_tensor(rows, device=joint.device)
    kept = joint[:, lost]
    alpha[lost] = 0.0
    gamma, sums = run.backward(alpha, weight)
    joint.copy_(gamma.mul_(weight[:, None]).T)
    heads = torch.as_tensor(offsets[:-1], device=joint.device)
    first += joint[:, heads].sum(dim=1).cpu().numpy()
    moves += (sums * run.move).cpu().numpy()
    if len(failed):
        told = np.empty(len(failed))
        settled = torch.full((len(rows),), -1)
        at = which[rows] if len(which) else which
        _on_host("smooth", kept, ends, weight[lost], settled, start, move, at, first, moves, told)
        joint[:, lost], evidence[failed] = kept, told
    w = weight[heads].cpu().numpy()
    return float(w[w > 0] @ evidence[w > 0])


def filter_states(joint, offsets, labels, start, move, which, predictive):
    """As the compiled kernel; `joint` and `labels` are tensors, `predictive` is either."""
    if is_narrow(offsets) and not can_cut(offsets, move, which):
        _on_host("filter_states", joint, offsets, labels, start, move, which, predictive)
        return
    run = Along(joint, offsets, labels, start, move, which)
    alpha, line, evidence = run.forward()
    failed = np.flatnonzero(np.isnan(evidence))
    rows, ends = run.rows_of(failed)
    lost = torch.as_tensor(rows, device=joint.device)
    kept = joint[:, lost]
    joint.copy_(alpha.T)
    if len(failed):
        told, at = np.empty(len(rows)), which[rows] if len(which) else which
        _on_host("filter_states", kept, ends, torch.full((len(rows),), -1), start, move, at, told)
        joint[:, lost], line[lost] = kept, put(told, joint.device)
    _fill(predictive, line)


def weigh_sequences(joint, offsets, labels, start, move, which, evidence):
    line = np.empty(joint.shape[1])
    _settle_labels(joint, torch.as_tensor(labels, device=joint.device))
    filter_states(joint.clone(), offsets, labels, start, move, which, line)
    evidence[:] = np.add.reduceat(line, offsets[:-1])


def decode(joint, offsets, labels, log_start, log_move, which, path, score):
    """As the compiled kernel; `joint` and `labels` are tensors, `path` and `score` are either."""
    if is_narrow(offsets):
        _on_host("decode", joint, offsets, labels, log_start, log_move, which, path, score)
        return
    device = joint.device
    _settle_labels(joint, torch.as_tensor(labels, device=device))
    runs, values = layout_of(offsets, device, False, STRETCH), joint.T.contiguous()
    start, move = put(log_start, device), put(log_move, device)
    at_of = torch.as_tensor(which, device=device).long() if len(which) else None
    origin = torch.empty(values.shape, dtype=torch.uint8 if len(start) <= 256 else torch.int16, device=device)
    best = values.new_empty(len(runs.begin), len(start))
    for t, n in enumerate(runs.wide):
        at = runs.first[:n] + t
        if t == 0:
            now = start + values[at]
        else:
            moved = now[:n, :, None] + (move[0] if at_of is None else move[at_of[at]])
            found, back = moved.max(dim=1)
            now, origin[at] = found + values[at], back.to(origin.dtype)
        best[:n] = now
    told, last = best.max(dim=1)
    found = torch.empty(len(values), dtype=torch.int64, device=device)
    for t, n in enumerate(runs.wide):
        at = runs.last[:n] - t
        if t:
            last = origin[at + 1].gather(1, last[:n, None])[:, 0].long()
        found[at] = last
    _fill(path, found)
    _fill(score, told[torch.as_tensor(np.argsort(runs.sequence, kind="stable"), device=device)])


def draw_states(share, offsets, move, which, chance, path):
    """As the compiled kernel; `share` is a tensor, `chance` and `path` are either."""
    if is_narrow(offsets):
        _on_host("draw_states", share, offsets, move, which, chance, path)
        return
    device = share.device
    runs, rows, ahead = (
        layout_of(offsets, device, False, STRETCH),
        share.T.contiguous(),
        put(move, device).mT.contiguous(),
    )
    at_of = torch.as_tensor(which, device=device).long() if len(which) else None
    chance, found = put(chance, device), torch.empty(len(rows), dtype=torch.int64, device=device)
    state = found[:0]
    for t, n in enumerate(runs.wide):
        at = runs.last[:n] - t
        weights = rows[at]
        if t:
            weights = weights * (ahead[0, state[:n]] if at_of is None else ahead[at_of[at + 1], state[:n]])
        weights = weights.cumsum(dim=1)
        below = weights[:, :-1] <= (chance[at] * weights[:, -1])[:, None]
        state = below.sum(dim=1)
        found[at] = state
    _fill(path, found)


def _settle_labels(joint, labels):
    """Make other states than a known one impossible."""
    known = (labels >= 0).nonzero()[:, 0]
    if len(known):
        values = joint[labels[known], known]
        joint[:, known] = -torch.inf
        joint[labels[known], known] = values


def _weighed(joint, top):
    """Densities (steps, states) relative to the largest of their step."""
    found = (joint - top).exp_().clamp_min_(TINY)
    return found.masked_fill_(joint == -torch.inf, 0.0).T.contiguous()


def _differ(x, y):
    """Places at which positive vectors differ in more than their last digits."""
    same = ((x - y).abs() <= SAME * torch.maximum(x, y)) | (x.isnan() & y.isnan())
    return (~same.all(dim=1)).nonzero()[:, 0]


def _quick(joint):
    """Loops in registers, for few enough states."""
    return fused(joint, "triton_chain") if len(joint) <= STATES else None


def _fill(asked, found):
    if isinstance(asked, np.ndarray):
        asked[...] = found.cpu().numpy()
    else:
        asked.copy_(found)


def _on_host(name, *arguments):
    """The compiled kernel on copies of tensors, which are then filled as it filled the copies."""
    there = [each.cpu().numpy() if isinstance(each, torch.Tensor) else each for each in arguments]
    found = kernel(name)(*there)
    for given, made in zip(arguments, there):
        if isinstance(given, torch.Tensor) and given.device.type != "cpu":
            given.copy_(torch.as_tensor(made))
    return found
