"""What commands read from files or standard input, and write beside configuration."""
