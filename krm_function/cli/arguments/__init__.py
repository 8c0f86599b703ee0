"""The command line as words: its parser, the options that commands share, and what the environment adds to them."""
