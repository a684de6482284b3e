"""Checks: regression tests made from reports. A run repeats the request with the current agent, and passes or fails.

Expectations are data (`expecting`), and a run is a rerun (`threads.reruns`). Its verdict is read from the stored
transcript (`judging.settle`), so it does not matter which process was running when the answer ended.
"""
