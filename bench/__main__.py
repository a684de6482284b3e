"""`python -m bench`: every figure on every way of running. The exit code says nothing: these are no tests."""

import argparse
import os
import sys

parser = argparse.ArgumentParser(prog="bench", description=__doc__)
parser.add_argument("--only", default="", help="figures whose name holds this")
parser.add_argument("--way", choices=("embedded", "full", "both"), default="both")
parser.add_argument("--quick", action="store_true", help="a quarter of the rounds")
parser.add_argument("--slow", action="store_true", help="also what takes minutes")


def main() -> None:
    options = parser.parse_args()
    if options.quick:
        os.environ["BENCH_QUICK"] = "1"
    from bench.running import run

    for way in ("embedded", "full") if options.way == "both" else (options.way,):
        run(way, only=options.only, slow=options.slow)
    sys.exit(0)


if __name__ == "__main__":
    main()
