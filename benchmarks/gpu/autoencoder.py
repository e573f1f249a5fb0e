"""``python -m benchmarks.gpu.autoencoder``: seconds per epoch of the autoencoder, against the same network in plain PyTorch.

Both have linear maps beside two hidden layers of 256, ten components, Gaussian noise by column, AdamW, the same batches and
precision, and rows that lie on the device. Fits are interleaved; printed are medians of all epochs but the first of a fit, and
the bounds that both reach, which must agree.
"""

import argparse
import math
import statistics
import time

import numpy as np
import torch

from benchmarks.harness import table
from tacit.source import ArraySource
from tacit.variational import VariationalAutoencoder

WIDTH, COMPONENTS, RATE, DECAY = 256, 10, 1e-3, 1e-2


def rows(n, d, share, seed=0):
    """Rows on a curved surface, with a share of the cells missing."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, COMPONENTS)).astype(np.float32)
    hidden = np.tanh(z @ rng.normal(size=(COMPONENTS, 30)).astype(np.float32))
    X = hidden @ rng.normal(size=(30, d)).astype(np.float32) + rng.normal(size=(n, d)).astype(np.float32)
    if share:
        X[rng.random(X.shape, dtype=np.float32) < share] = np.nan
    return X


class Plain(torch.nn.Module):
    """The same network, as one writes it."""

    def __init__(self, d, k, masked):
        super().__init__()
        nn, self.masked = torch.nn, masked
        n_in = 2 * d if masked else d
        self.skip_in, self.skip_out = nn.Linear(n_in, 2 * k), nn.Linear(k, d)
        self.into = nn.Sequential(
            nn.Linear(n_in, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 2 * k, bias=False)
        )
        self.out = nn.Sequential(
            nn.Linear(k, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, d, bias=False)
        )
        self.log_noise = nn.Parameter(torch.zeros(d))
        nn.init.zeros_(self.into[-1].weight)
        nn.init.zeros_(self.out[-1].weight)

    def forward(self, x, seen):
        """The bound of every row."""
        given = torch.cat([x * seen, 1.0 - seen], 1) if self.masked else x
        mean, log_std = (self.skip_in(given) + self.into(given)).float().chunk(2, -1)
        std = log_std.exp()
        z = mean + std * torch.randn_like(mean)
        error = (x - (self.skip_out(z) + self.out(z)).float()) / self.log_noise.exp()
        cells = -0.5 * error**2 - self.log_noise - 0.5 * math.log(2 * math.pi)
        cells = cells * seen if self.masked else cells
        return cells.sum(1) - (0.5 * (mean**2 + std**2 - 1.0) - log_std).sum(1)


def plain(X, epochs, batch, bfloat16, device):
    """Seconds of every epoch, and the bound of the last, in the columns' own units."""
    torch.manual_seed(0)
    centre, unit = np.nanmean(X[:20_000], axis=0), np.nanstd(X[:20_000], axis=0)
    x = torch.as_tensor((X - centre) / unit, device=device)
    gone = x.isnan()
    masked = bool(gone.any())
    x, seen = x.nan_to_num(0.0), ~gone
    model = Plain(X.shape[1], COMPONENTS, masked).to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY, fused=True)
    seconds = []
    for _ in range(epochs):
        start, total = time.perf_counter(), torch.zeros((), device=device)
        for at in torch.randperm(len(x), device=device).split(batch):
            with torch.autocast(x.device.type, torch.bfloat16, enabled=bfloat16):
                bound = model(x[at], seen[at].float() if masked else None)
            optimiser.zero_grad(set_to_none=True)
            (-bound.mean()).backward()
            optimiser.step()
            total += bound.detach().sum()
        value = float(total) / len(x)
        seconds.append(time.perf_counter() - start)
    return seconds, value


def ours(X, epochs, batch, bfloat16, device):
    """As `plain`; a source of numbers needs no survey of its columns."""
    ends = []
    model = VariationalAutoencoder(
        COMPONENTS, encoder_widths=(WIDTH, WIDTH), decoder_widths=(WIDTH, WIDTH), n_importance=1, init="random",
        validation_fraction=0.0, batch_size=batch, max_epochs=epochs, learning_rate=RATE, weight_decay=DECAY,
        mixed_precision=bfloat16, device=device, random_state=0, patience=epochs + 1,
        callback=lambda progress: ends.append(time.perf_counter()),
    ).fit(ArraySource(X))  # fmt: skip
    return np.diff(ends).tolist(), model.training_.bounds[-1]


def main():
    """Print one line per size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args()
    if asked.device == "cuda":
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {asked.rows:,} × {asked.columns}")
    told = []
    for share, batch, bfloat16 in ((0.0, 1024, False), (0.0, 8192, False), (0.2, 1024, False), (0.0, 8192, True)):
        X, times, bounds = rows(asked.rows, asked.columns, share), {"ours": [], "plain": []}, {}
        for _ in range(asked.repeats):
            for name, run in (("plain", plain), ("ours", ours)):
                seconds, bounds[name] = run(X, asked.epochs, batch, bfloat16, asked.device)
                times[name] += seconds[1:] if name == "plain" else seconds
        a, b = (statistics.median(times[name]) for name in ("ours", "plain"))
        gap = abs(bounds["ours"] - bounds["plain"]) / abs(bounds["plain"])
        told.append({
            "missing": f"{share:.0%}", "batch": f"{batch:,}", "precision": "bfloat16" if bfloat16 else "float32",
            "ours (s an epoch)": f"{a:.3f}", "plain (s an epoch)": f"{b:.3f}", "ratio": f"{a / b:.2f}",
            "bounds": f"{bounds['ours']:.2f} / {bounds['plain']:.2f}",
        })  # fmt: skip
        print(told[-1], flush=True)
        assert gap < 0.02 or asked.rows < 200_000, "the bounds must agree"
    print(table(told))


if __name__ == "__main__":
    main()
