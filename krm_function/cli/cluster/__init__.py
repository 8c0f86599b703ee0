"""`--cluster`, and `--nodes` beside it: what a live cluster has, or a file that it printed."""
