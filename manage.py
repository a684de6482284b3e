#!/usr/bin/env python
"""Heddle's command line."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.command_line import run

    run(sys.argv)
