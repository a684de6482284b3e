"""The one adapter between the runner and every model, simulated or real."""
