"""`adopt`: the files of a configuration, the lock, and the questions on a terminal."""
