"""The commands of operations, one file each, as those in `cli/commands`; the table there has their names."""
