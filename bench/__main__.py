"""Run the benchmarks in single-process and full mode. The exit code is always 0: these are not tests."""

import argparse
import os
import sys

parser = argparse.ArgumentParser(prog="bench", description=__doc__)
parser.add_argument("--only", default="", help="only benchmarks whose name contains this")
parser.add_argument("--way", choices=("embedded", "full", "both"), default="both", help="mode; default: both")
parser.add_argument("--quick", action="store_true", help="run a quarter of the rounds")
parser.add_argument("--slow", action="store_true", help="include benchmarks that take minutes")


def main() -> None:
    options = parser.parse_args()
    if options.quick:
        os.environ["BENCH_QUICK"] = "1"
    # What is measured in this process asks for settings when it is imported; floors have their own.
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    from bench.running import run

    for way in ("embedded", "full") if options.way == "both" else (options.way,):
        run(way, only=options.only, slow=options.slow)
    sys.exit(0)


if __name__ == "__main__":
    main()
