"""The floors: minimal baselines on the same server, queue and database."""
