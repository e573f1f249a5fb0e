"""`TorchSource`: rows of a tensor, on whatever device it lies."""

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("TorchSource needs torch; install it with: pip install 'tacit[gpu]'") from error

from .base import Source, default_block_rows
from .block import Block, Patterns

__all__ = ["TorchSource"]


def _gpu_block_rows(n_features, device):
    """Rows whose cells take an eighth of the device's memory: of all of it, so that results do not depend on what else runs."""
    total = torch.cuda.get_device_properties(device).total_memory
    return max(total // (64 * max(n_features, 1)), 1 << 16)


class TorchSource(Source):
    """Rows of a tensor, cut into blocks that stay on its device; statistics come back as float64 NumPy arrays.

    Where a block does not fit the device's memory together with what is computed from it, it is cut in two, for good.

    Parameters
    ----------
    X : (n, d) tensor of float32 or float64, or array
        Cells; NaN is missing.
    weight, labels : (n,) tensors or arrays, optional
        Row weights (default 1) and known classes (−1 unknown, the default).
    device : str or torch.device, optional
        Where to compute; default where X lies.
    block_rows : int, optional
        Rows per block; default small enough for a core's cache, and on a GPU an eighth of its memory.
    """

    n_jobs = 1

    def __init__(self, X, weight=None, labels=None, *, device=None, block_rows=None):
        self.X = torch.as_tensor(X, device=device)
        if self.X.dtype not in (torch.float32, torch.float64):
            self.X = self.X.double()
        self.X = self.X.contiguous()
        device = self.X.device
        self.n_rows, self.n_features = self.X.shape
        self.dtype = np.dtype(str(self.X.dtype).removeprefix("torch."))
        # A single number seen as often as there are rows takes no memory.
        one, unknown = torch.ones(1, dtype=torch.float64, device=device), torch.full((1,), -1, device=device)
        self.weight = one.expand(self.n_rows) if weight is None else torch.as_tensor(weight, device=device).double()
        self.labels = unknown.expand(self.n_rows) if labels is None else torch.as_tensor(labels, device=device).long()
        if block_rows is None and device.type == "cuda":
            block_rows = _gpu_block_rows(self.n_features, device)
        self.block_rows = block_rows or default_block_rows(self.n_features, self.X.element_size())
        self._whole: dict = {}
        starts = range(0, self.n_rows, self.block_rows)
        self._blocks = [self._ingest(slice(start, start + self.block_rows)) for start in starts]
        self.n_blocks = len(self._blocks)

    def _ingest(self, rows):
        X = self.X[rows]
        return Block(X, self.weight[rows], self.labels[rows], self._patterns(X))

    def _patterns(self, X):
        """The patterns of a block; complete blocks of one size share theirs."""
        if bool(torch.isfinite(X.sum())) or not bool(torch.isnan(X).any()):
            if len(X) not in self._whole:
                self._whole[len(X)] = Patterns(
                    np.arange(len(X), dtype=np.int32), np.array([0, len(X)]), np.zeros((1, X.shape[1]), bool)
                )
            return self._whole[len(X)]
        return Patterns.of(X.cpu().numpy())

    def __len__(self):
        return len(self._blocks)

    def __iter__(self):
        return iter(self._blocks)

    def map(self, function):
        """Yield function(block) for every block, in order; a block the device has no memory for is cut in two."""
        index = 0
        while index < len(self._blocks):
            block, fits = self._blocks[index], True
            try:
                result = function(block)
            except torch.cuda.OutOfMemoryError:
                if len(block) < 2:
                    raise
                fits = False
            if not fits:
                # Outside of the handler, where the failed step's tensors are still alive.
                self._halve(index)
                continue
            yield result
            index += 1

    def _halve(self, index):
        first = sum(map(len, self._blocks[:index]))
        n_rows = len(self._blocks[index])
        middle = first + n_rows // 2
        torch.cuda.empty_cache()
        self._blocks[index : index + 1] = [
            self._ingest(slice(first, middle)),
            self._ingest(slice(middle, first + n_rows)),
        ]
        self.n_blocks = len(self._blocks)

    def eligible(self):
        return torch.nonzero(self.weight > 0)[:, 0].cpu().numpy()

    def subset(self, rows):
        """The rows with these sorted numbers as a source on the same device."""
        at = torch.as_tensor(rows, device=self.X.device)
        return TorchSource(self.X[at], self.weight[at], self.labels[at])

    def take(self, rows):
        """One block of the rows with these sorted numbers, in NumPy: starts are made on the CPU."""
        at = torch.as_tensor(rows, device=self.X.device)
        return Block.of(*(values[at].cpu().numpy() for values in (self.X, self.weight, self.labels)))
