"""The adapter between the runner and all models, simulated or real."""
