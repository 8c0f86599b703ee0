"""What `upgrade` looks up beside the releases: hosts, and the places of files, for the commands that it prints."""
