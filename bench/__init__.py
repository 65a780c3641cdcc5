"""Timed comparisons: `make bench` prints medians, each beside a plain reference of the same run."""
