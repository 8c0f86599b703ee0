"""`check --cluster` of the committed quickstart, which is applied once for all files of this package."""
