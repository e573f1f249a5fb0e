"""Non-negative factorisation: `NMF`, `MiniBatchNMF` and the model behind them."""
