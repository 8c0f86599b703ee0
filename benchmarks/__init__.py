"""Speed as ratios against named peers, measured in one run; see `python -m benchmarks --help`."""
