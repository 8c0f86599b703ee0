"""`lock`: the images that are needed, the file that is written, and the places that are pinned."""
