"""Checks: a complaint is kept as a test, is run again against what the agent is told now, and passes or fails.

What must hold is data (`expecting`), a run is a rerun (`threads.reruns`), and its verdict is read from the transcript
that came of it (`running.settle`), so it does not matter which process was there when the answer ended.
"""
